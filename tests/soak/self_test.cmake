# That what grows on purpose is found, and named.
foreach(row "memory;malloc;1" "petsc;PetscMalloc;1" "file;open files;1" "communicator;communicators;1" "time;time;30")
  list(GET row 0 leak)
  list(GET row 1 name)
  list(GET row 2 seconds)
  execute_process(COMMAND ${SOAK} -soak cg -soak_seconds ${seconds} -soak_leak ${leak}
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  if(status EQUAL 0 OR NOT output MATCHES "grew: [^\n]*${name} by")
    message(FATAL_ERROR "-soak_leak ${leak} ended with ${status}, and '${name}' did not grow:\n${output}${errors}")
  endif()
endforeach()
