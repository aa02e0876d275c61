# The pool, compiled from copies of its sources in which atomics, locks and threads are those of
# a simulation (simulate.cmake), and mutants of it.
set(JACKDAW_SIMULATED_DIR ${CMAKE_CURRENT_BINARY_DIR}/simulated)

# jackdaw_simulated_pool(): the library jackdaw_simulated_pool.
function(jackdaw_simulated_pool)
  get_target_property(names jackdaw_pool SOURCES)
  get_target_property(libraries jackdaw_pool LINK_LIBRARIES)
  list(REMOVE_ITEM names futex.cc)  # simulated_futex.cc is in its place.
  list(TRANSFORM names PREPEND ${JACKDAW_SIMULATED_DIR}/scheduler/pool/ OUTPUT_VARIABLE sources)
  file(GLOB originals CONFIGURE_DEPENDS
    ${PROJECT_SOURCE_DIR}/scheduler/pool/*.h ${PROJECT_SOURCE_DIR}/scheduler/pool/*.cc)
  add_custom_command(
    OUTPUT ${sources}
    COMMAND ${CMAKE_COMMAND} -DINPUT=${PROJECT_SOURCE_DIR}/scheduler/pool
            -DOUTPUT=${JACKDAW_SIMULATED_DIR}/scheduler/pool
            -P ${CMAKE_CURRENT_SOURCE_DIR}/simulate.cmake
    DEPENDS ${originals} ${CMAKE_CURRENT_SOURCE_DIR}/simulate.cmake
    VERBATIM)
  add_library(jackdaw_simulated_pool STATIC ${sources} simulated_futex.cc simulation.cc)
  jackdaw_simulated(jackdaw_simulated_pool)
  # clang-tidy looks at sources without the copies being made.
  set_target_properties(jackdaw_simulated_pool PROPERTIES EXPORT_COMPILE_COMMANDS OFF)
  target_link_libraries(jackdaw_simulated_pool PUBLIC ${libraries})
  target_compile_definitions(jackdaw_simulated_pool
    PUBLIC $<TARGET_PROPERTY:jackdaw_pool,INTERFACE_COMPILE_DEFINITIONS>)
endfunction()

# Lets the copies stand before the originals.
function(jackdaw_simulated target)
  target_include_directories(${target} BEFORE PRIVATE ${JACKDAW_SIMULATED_DIR} ${PROJECT_SOURCE_DIR})
endfunction()

# jackdaw_simulated_mutant(NAME DiesOfX SOURCE worker.cc FROM [=[text]=] TO [=[text]=])
# pool_schedule_test once more, with FROM replaced by TO in one source of the pool. What the
# mutant defines itself is not taken from the library.
function(jackdaw_simulated_mutant)
  cmake_parse_arguments(PARSE_ARGV 0 ARG "" "NAME;SOURCE;FROM;TO" "")
  set(dir ${CMAKE_CURRENT_BINARY_DIR}/mutants/pool_schedule_${ARG_NAME})
  set(original ${JACKDAW_SIMULATED_DIR}/scheduler/pool/${ARG_SOURCE})
  file(GENERATE OUTPUT ${dir}/from.txt CONTENT "${ARG_FROM}")
  file(GENERATE OUTPUT ${dir}/to.txt CONTENT "${ARG_TO}")
  add_custom_command(
    OUTPUT ${dir}/${ARG_SOURCE}
    COMMAND ${CMAKE_COMMAND} -DNAME=${ARG_NAME} -DINPUT=${original} -DOUTPUT=${dir}/${ARG_SOURCE}
            -DFROM_FILE=${dir}/from.txt -DTO_FILE=${dir}/to.txt
            -P ${CMAKE_CURRENT_SOURCE_DIR}/mutate.cmake
    DEPENDS ${original} ${CMAKE_CURRENT_SOURCE_DIR}/mutate.cmake ${dir}/from.txt ${dir}/to.txt
    VERBATIM)
  set(target pool_schedule_${ARG_NAME})
  jackdaw_test(NAME ${target} LABELS model
    SOURCES pool_schedule_test.cc ${dir}/${ARG_SOURCE}
    DEPS jackdaw_simulated_pool)
  jackdaw_simulated(${target})
  target_compile_definitions(${target} PRIVATE JACKDAW_MUTANT=${ARG_NAME})
  target_compile_options(${target} PRIVATE -w)  # A defect may leave something unused.
endfunction()
