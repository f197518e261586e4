# That property_runner finds, repeats and shrinks what is wrong: cmake -DMPIEXEC=... -DRUNNER=... -P self_test.cmake.
# With --break the last scalar of each product of patterns of more than 3 entries is wrong.
foreach(part IN ITEMS core petsc)
  execute_process(COMMAND ${MPIEXEC} 2 ${RUNNER} --seconds 60 --seed 7 --backend host --break ${part}
    RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(NOT status EQUAL 1)
    message(FATAL_ERROR "--break ${part}: exit code ${status}, not 1:\n${text}")
  endif()
  foreach(line IN ITEMS "FAILED: agrees with the definition: "
      "  repeat: [^\n]* --seed 7 --index ${part}:[0-9]+ --break ${part}\n"
      "  shrunk in [1-9][0-9]* steps" " 4 entries\n    row 0:" "\nFAILED: [0-9]+ cases, ")
    if(NOT text MATCHES "${line}")
      message(FATAL_ERROR "--break ${part} does not print '${line}':\n${text}")
    endif()
  endforeach()
  if(NOT text MATCHES "--case '([^']*)'")
    message(FATAL_ERROR "--break ${part} prints no small case:\n${text}")
  endif()
  set(small "${CMAKE_MATCH_1}")
  execute_process(COMMAND ${MPIEXEC} 2 ${RUNNER} --case ${small} --break ${part}
    RESULT_VARIABLE again OUTPUT_VARIABLE text)
  execute_process(COMMAND ${MPIEXEC} 2 ${RUNNER} --case ${small} RESULT_VARIABLE unbroken OUTPUT_VARIABLE whole)
  if(NOT again EQUAL 1 OR NOT unbroken EQUAL 0)
    message(FATAL_ERROR "the small case ends with ${again} broken, with ${unbroken} unbroken:\n${text}${whole}")
  endif()
endforeach()
