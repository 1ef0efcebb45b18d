# find_package(pyaclnn CONFIG): the targets pyaclnn::ascendcl, pyaclnn::nnopbase, pyaclnn::opapi and
# pyaclnn::atb, each with those it needs. PYACLNN_HOME is the tree, as ASCEND_TOOLKIT_HOME.
get_filename_component(PYACLNN_HOME "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

set(_pyaclnn_below)
foreach(_pyaclnn_name ascendcl nnopbase opapi atb)
  set(_pyaclnn_file "${PYACLNN_HOME}/lib64/lib${_pyaclnn_name}.so")
  if(NOT EXISTS "${_pyaclnn_file}")
    set(pyaclnn_FOUND FALSE)
    set(pyaclnn_NOT_FOUND_MESSAGE "${_pyaclnn_file} is missing")
    break()
  endif()
  if(NOT TARGET pyaclnn::${_pyaclnn_name})
    add_library(pyaclnn::${_pyaclnn_name} SHARED IMPORTED)
    set_target_properties(pyaclnn::${_pyaclnn_name} PROPERTIES
      IMPORTED_LOCATION "${_pyaclnn_file}"
      IMPORTED_SONAME "lib${_pyaclnn_name}.so"
      INTERFACE_INCLUDE_DIRECTORIES "${PYACLNN_HOME}/include"
      INTERFACE_LINK_LIBRARIES "${_pyaclnn_below}")
  endif()
  set(_pyaclnn_below pyaclnn::${_pyaclnn_name})
endforeach()
unset(_pyaclnn_below)
unset(_pyaclnn_name)
unset(_pyaclnn_file)
