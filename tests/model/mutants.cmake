# A model is compiled against the real header and against mutants of it, each with one defect.
# The real one must hold and every mutant must fail. A mutant is made from the product's own
# header by replacing one piece of text, so it never drifts from it: when the text is gone, the
# build says which mutant has to be written anew.
set(JACKDAW_MODEL_DIR ${CMAKE_CURRENT_LIST_DIR})

# jackdaw_mutant(TEST model_test SOURCE deque_model.cc NAME DiesWithoutX
#                HEADER scheduler/pool/work_deque.h FROM [=[text]=] TO [=[text]=])
# Adds the model once more, against the header with FROM replaced by TO. NAME is the test's.
# The mutant lives in a namespace of its own, so that it can be linked beside the original.
function(jackdaw_mutant)
  cmake_parse_arguments(PARSE_ARGV 0 ARG "" "TEST;SOURCE;NAME;HEADER;FROM;TO" "")
  get_filename_component(model ${ARG_SOURCE} NAME_WE)
  set(name ${model}_${ARG_NAME})
  set(dir ${CMAKE_CURRENT_BINARY_DIR}/mutants/${name})
  file(GENERATE OUTPUT ${dir}/from.txt CONTENT "${ARG_FROM}")
  file(GENERATE OUTPUT ${dir}/to.txt CONTENT "${ARG_TO}")
  add_custom_command(
    OUTPUT ${dir}/${ARG_HEADER}
    COMMAND ${CMAKE_COMMAND} -DNAME=${ARG_NAME} -DINPUT=${PROJECT_SOURCE_DIR}/${ARG_HEADER}
            -DOUTPUT=${dir}/${ARG_HEADER} -DFROM_FILE=${dir}/from.txt -DTO_FILE=${dir}/to.txt
            -P ${JACKDAW_MODEL_DIR}/mutate.cmake
    DEPENDS ${PROJECT_SOURCE_DIR}/${ARG_HEADER} ${JACKDAW_MODEL_DIR}/mutate.cmake ${dir}/from.txt ${dir}/to.txt
    VERBATIM)
  add_library(${name} OBJECT ${ARG_SOURCE} ${dir}/${ARG_HEADER})
  target_include_directories(${name} PRIVATE ${dir} ${PROJECT_SOURCE_DIR})
  target_compile_definitions(${name} PRIVATE JACKDAW_MUTANT=${ARG_NAME} jackdaw=jackdaw_${name})
  target_link_libraries(${name} PRIVATE jackdaw_options GTest::gtest)
  # -w: a defect may leave something unused. Relacy replaces the plain `delete` only.
  target_compile_options(${name} PRIVATE -w -fno-sized-deallocation)
  target_link_libraries(${ARG_TEST} PRIVATE $<TARGET_OBJECTS:${name}>)
endfunction()
