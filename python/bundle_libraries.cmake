# Copies the shared libraries that `module` needs, under the names it needs them by, into kweave/libraries of the wheel.
file(GET_RUNTIME_DEPENDENCIES MODULES ${module} RESOLVED_DEPENDENCIES_VAR libraries
  PRE_EXCLUDE_REGEXES "^lib(c|m|dl|rt|pthread|gcc_s|stdc[+][+])[.]so" "^ld-linux" "^libpython")
foreach(library IN LISTS libraries)
  get_filename_component(name ${library} NAME)
  file(REAL_PATH ${library} file)
  file(MAKE_DIRECTORY ${CMAKE_INSTALL_PREFIX}/kweave/libraries)
  file(COPY_FILE ${file} ${CMAKE_INSTALL_PREFIX}/kweave/libraries/${name})
  message(STATUS "Bundled ${library}")
endforeach()
