# Writes OUTPUT, assembly that defines every function of the C interface that LIBRARY exports.
execute_process(COMMAND ${NM} -D --defined-only -P ${LIBRARY} OUTPUT_VARIABLE symbols
  COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "(^|\n)[Aa]cl[A-Za-z0-9_]* T" symbols "${symbols}")
set(text ".text\n")
foreach(symbol IN LISTS symbols)
  string(REGEX REPLACE "[\n ]|T$" "" symbol "${symbol}")
  string(APPEND text ".globl ${symbol}\n.type ${symbol}, %function\n${symbol}:\n")
endforeach()
string(APPEND text ".byte 0\n.section .note.GNU-stack, \"\", %progbits\n")
file(WRITE ${OUTPUT} "${text}")
