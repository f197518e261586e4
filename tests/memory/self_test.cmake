# That mistakes which are planted are found, and named.
foreach(row "leak;blocks are lost" "swallow;no error, and nothing tells of it" "throw;an exception came through PETSc"
    "spoil;the product is wrong")
  list(GET row 0 mistake)
  list(GET row 1 message)
  execute_process(COMMAND ${MEMORY} -memory_mistakes -memory_scenario ${mistake}
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  if(status EQUAL 0 OR NOT output MATCHES "${mistake}, site [0-9]+[^\n]*: [^\n]*${message}")
    message(FATAL_ERROR
      "The mistake ${mistake} ended with ${status}, and '${message}' is not there:\n${output}${errors}")
  endif()
endforeach()
