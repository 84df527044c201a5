# Installed files, and the Debian package that contains them: `cmake --install` and `cpack -G DEB` (scripts/deb).
include(GNUInstallDirs)
set(share ${CMAKE_INSTALL_DATADIR}/berth)
set(debian ${CMAKE_SOURCE_DIR}/packaging/debian)

install(TARGETS berth RUNTIME)
# The same program as a plugin of kubectl, and as the completion of this plugin.
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/package)
foreach(name kubectl-berth kubectl_complete-berth)
  file(CREATE_LINK berth ${CMAKE_BINARY_DIR}/package/${name} SYMBOLIC)
  install(FILES ${CMAKE_BINARY_DIR}/package/${name} DESTINATION ${CMAKE_INSTALL_BINDIR})
endforeach()
install(DIRECTORY ${CMAKE_SOURCE_DIR}/config/crd ${CMAKE_SOURCE_DIR}/config/install ${CMAKE_SOURCE_DIR}/config/monitoring
  ${CMAKE_SOURCE_DIR}/config/samples DESTINATION ${share})
# In the repository the chart contains a link to config/crd. The installed chart contains the files.
install(DIRECTORY ${CMAKE_SOURCE_DIR}/config/helm DESTINATION ${share} PATTERN files EXCLUDE)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/config/crd DESTINATION ${share}/helm/berth/files)

# The program itself writes the shell completion.
set(generated ${CMAKE_BINARY_DIR}/package)
add_custom_command(
  OUTPUT ${generated}/berth.bash ${generated}/_berth ${generated}/berth.fish ${generated}/berth.1.gz
         ${generated}/changelog.gz
  COMMAND ${CMAKE_COMMAND} -E make_directory ${generated}
  COMMAND berth completion bash > ${generated}/berth.bash
  COMMAND berth completion zsh > ${generated}/_berth
  COMMAND berth completion fish > ${generated}/berth.fish
  COMMAND gzip -9nc ${CMAKE_SOURCE_DIR}/packaging/berth.1 > ${generated}/berth.1.gz
  COMMAND gzip -9nc ${debian}/changelog > ${generated}/changelog.gz
  DEPENDS berth ${CMAKE_SOURCE_DIR}/packaging/berth.1 ${debian}/changelog
  VERBATIM)
add_custom_target(package_files DEPENDS ${generated}/berth.bash)
install(FILES ${generated}/berth.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME berth)
install(FILES ${generated}/_berth DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
install(FILES ${generated}/berth.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(FILES ${generated}/berth.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${generated}/changelog.gz ${debian}/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR})

# The systemd service, and the files that an administrator edits.
install(FILES ${debian}/berth-controller.service DESTINATION lib/systemd/system)
install(FILES ${debian}/controller.yaml DESTINATION /etc/berth)
install(FILES ${debian}/berth-controller.default DESTINATION /etc/default RENAME berth-controller)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME berth)
set(CPACK_PACKAGE_CONTACT "The Berth authors <berth@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "batch queueing for Kubernetes with Kueue's API")
set(CPACK_PACKAGE_DESCRIPTION "Jobs wait in queues until quota is free for them and a place in the machine
room fits them.
The package holds the controller with a service, an API server with a pretend
cluster for trying things out, a simulator, manifests and a Helm chart.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS ca-certificates)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS kubernetes-client)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${debian}/postinst ${debian}/prerm ${debian}/postrm ${debian}/conffiles)
include(CPack)
