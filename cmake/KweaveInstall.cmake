# Installs the library, its headers, the program and the package files that find_package(kweave) reads.
include(CMakePackageConfigHelpers)

set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/kweave)
set(package_build_directory ${PROJECT_BINARY_DIR}/package)

install(TARGETS kweave EXPORT kweaveTargets FILE_SET HEADERS)
if(KWEAVE_BUILD_APP)
  # So that an installed program finds a shared library beside it.
  set_target_properties(kweave_app PROPERTIES INSTALL_RPATH $ORIGIN/../${CMAKE_INSTALL_LIBDIR})
  install(TARGETS kweave_app)
endif()
install(FILES LICENSE README.md CHANGELOG.md CITATION.cff TYPE DOC)

get_target_property(KWEAVE_LIBRARY_TYPE kweave TYPE)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/kweaveConfig.cmake.in
  ${package_build_directory}/kweaveConfig.cmake INSTALL_DESTINATION ${package_directory})
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(${package_build_directory}/kweaveConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(EXPORT kweaveTargets NAMESPACE kweave:: DESTINATION ${package_directory})
install(FILES ${package_build_directory}/kweaveConfig.cmake ${package_build_directory}/kweaveConfigVersion.cmake
  DESTINATION ${package_directory})
