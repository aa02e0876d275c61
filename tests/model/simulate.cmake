# Copies the folder INPUT of the product to OUTPUT with the stand-ins of tests/model/simulated.h
# in the place of what makes or orders threads. The product's own sources, so that what runs in
# a simulation cannot drift from them.
file(GLOB paths RELATIVE ${INPUT} ${INPUT}/*.h ${INPUT}/*.cc)
foreach(path IN LISTS paths)
  file(READ ${INPUT}/${path} text)
  foreach(pair IN ITEMS
      "std::atomic=simulated::Atomic"
      "std::mutex=simulated::Mutex"
      "absl::Mutex=simulated::Mutex"
      "absl::CondVar=simulated::CondVar"
      "absl::Notification=simulated::Notification"
      "pthread_create=simulated::CreateThread"
      "pthread_join=simulated::JoinThread"
      "pthread_detach=simulated::DetachThread"
      "sched_yield=Simulation::Yield")
    string(REPLACE "=" ";" pair "${pair}")
    list(GET pair 0 from)
    list(GET pair 1 to)
    string(REPLACE "${from}" "${to}" text "${text}")
  endforeach()
  set(text "#include \"tests/model/simulated.h\"\n${text}")
  set(before "")
  if(EXISTS ${OUTPUT}/${path})
    file(READ ${OUTPUT}/${path} before)
  endif()
  if(NOT text STREQUAL before)
    file(WRITE ${OUTPUT}/${path} "${text}")
  endif()
endforeach()
