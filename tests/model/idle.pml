/* The idle protocol of scheduler/pool/idle_set.h and worker.cc, for Spin: liveness, which the
 * other checkers do not see. Whatever the workers do and however long a task runs, queued work
 * is eventually run by some worker that is free.
 *
 * Sees: every interleaving, and every infinite execution that is fair to each process: lost
 * wake-ups, searches that hand over to nobody, circles of withdrawing. Does not see: weak
 * memory (each step here is sequentially consistent; idle_set_model.cc has the orders), more
 * workers than WORKERS, queues longer than these, and a pool so busy that it never runs dry:
 * outside work comes in bursts, each once what was queued before has been taken.
 *
 * A mutant is this file with one of these defined:
 *   SKIP_RESCAN            a worker sleeps right after its announcement
 *   LOOK_THEN_ANNOUNCE     it looks first, then announces
 *   NO_LAST_SEARCHER       who found work wakes nobody
 *   WAKE_BEFORE_PUSH       the notice goes out before the task is visible
 *   WITHDRAW_UNCOUNTED     who withdraws is not counted as searching
 *   WOKEN_UNCOUNTED        who is woken is not counted as searching
 *   TOKEN_LOST             a withdrawal that came too late does not take its token
 */
#ifndef WORKERS
#define WORKERS 2
#endif
#define LIMIT (WORKERS / 2)  /* How many may search; WORKERS is at least 2. */
#define NOBODY WORKERS

/* Tasks. A root may push a child on the deque of its worker; either may then run for ever, as
 * long as one worker stays free. The marked one stands for any task: it comes at any moment. */
#define NO_TASK 0
#define ROOT 1
#define CHILD 2
#define MARKED 3

chan injector = [2] of { byte };
chan deque[WORKERS] = [1] of { byte };

byte searching;  /* With `parked` one word: a step that uses both is one operation on it. */
byte parked;
bool listed[WORKERS];
bool token[WORKERS];

byte endless;         /* Tasks that run for ever. */
bool marked_made;
bool marked_waits;

ltl queued_work_is_eventually_run { [] (marked_waits -> <> !marked_waits) }

/* Which of the parked is of no matter here. */
inline wake_one() {
  atomic {
    if
    :: searching == 0 && parked > 0 ->
       sleeper = 0;
       do
       :: !listed[sleeper] -> sleeper++
       :: else -> break
       od;
       listed[sleeper] = false;
       parked--;
#ifndef WOKEN_UNCOUNTED
       searching++
#endif
    :: else
    fi
  }
  if
  :: sleeper != NOBODY -> d_step { token[sleeper] = true; sleeper = NOBODY }
  :: else
  fi
}

inline notify_work() {
  if
  :: searching == 0 && parked > 0 -> wake_one()
  :: else
  fi
}

inline push(queue, task) {
#ifdef WAKE_BEFORE_PUSH
  notify_work();
#endif
  atomic {
    queue!task;
    marked_waits = marked_waits || task == MARKED
  }
#ifndef WAKE_BEFORE_PUSH
  notify_work()
#endif
}

inline take_from(queue) {
  atomic {
    if
    :: task == NO_TASK && nempty(queue) -> queue?task
    :: task != NO_TASK || empty(queue)
    fi
  }
}

/* Looks at one queue after another; work may appear behind the look. */
inline look_everywhere() {
  seen = nempty(injector);
  do
  :: d_step { i < WORKERS && !seen -> seen = nempty(deque[i]); i++ }
  :: d_step { i == WORKERS || seen -> i = 0 }; break
  od
}

/* A search is one sweep: longer ones end for the clock's sake, not for the protocol's. */
inline find() {
  take_from(deque[me]);
  take_from(injector);
  if
  :: task == NO_TASK && !counted && searching < LIMIT ->
     atomic { searching++; counted = true };
     take_from(injector)
  :: else
  fi;
  do
  :: task == NO_TASK && counted && i < WORKERS -> atomic { take_from(deque[i]); i++ }
  :: else -> i = 0; break
  od
}

inline stop_searching() {
  atomic { assert(searching > 0); last = (searching == 1); searching--; counted = false };
#ifndef NO_LAST_SEARCHER
  if
  :: last ->
     last = false;
     look_everywhere();
     if
     :: seen -> seen = false; notify_work()
     :: else
     fi
  :: else
  fi
#endif
}

inline announce() {
  atomic {
    listed[me] = true;
    parked++;
    if
    :: counted -> assert(searching > 0); searching--
    :: else
    fi;
    counted = false;
    assert(parked + searching <= WORKERS)
  }
}

/* `sleeps` says whether a token comes, or is there. */
inline withdraw() {
  atomic {
    if
    :: listed[me] ->
       listed[me] = false;
       parked--;
#ifndef WITHDRAW_UNCOUNTED
       searching++;
#endif
       sleeps = false
    :: else ->
#ifndef TOKEN_LOST
       sleeps = true
#else
       sleeps = false
#endif
    fi
  }
}

inline park() {
#ifdef LOOK_THEN_ANNOUNCE
  look_everywhere();
  announce();
#else
  announce();
  look_everywhere();
#endif
#ifdef SKIP_RESCAN
  seen = false;
#endif
  sleeps = true;
  if
  :: seen -> seen = false; withdraw()
  :: else
  fi;
  if
  :: sleeps -> atomic { token[me] -> token[me] = false }
  :: else
  fi;
  d_step { counted = true; sleeps = false }
}

inline execute() {
  if
  :: task == MARKED -> marked_waits = false
  :: task == ROOT && len(deque[me]) == 0 ->
     if
     :: push(deque[me], CHILD)
     :: !marked_made -> marked_made = true; push(deque[me], MARKED)
     :: skip
     fi
  :: else
  fi;
  if
  :: atomic { task != MARKED && endless < WORKERS - 1 -> endless++ }; goto runs_for_ever
  :: skip
  fi
}

active [WORKERS] proctype Worker() {
  byte me = _pid;
  byte task = NO_TASK;
  byte sleeper = NOBODY;
  byte i;
  bool counted, last, seen, sleeps;
  do
  :: find();
     if
     :: task != NO_TASK ->
        if
        :: counted -> stop_searching()
        :: else
        fi;
        execute();
        task = NO_TASK
     :: else -> park()
     fi
  od;
runs_for_ever:
  task = NO_TASK;
  false
}

#define ALL_TAKEN \
  (empty(injector) && empty(deque[0]) && empty(deque[1]) && empty(deque[WORKERS - 1]))

active proctype Outside() {
  byte sleeper = NOBODY;
  byte burst;
  do
  :: ALL_TAKEN ->
     do
     :: burst < 2 ->
        burst++;
        if
        :: push(injector, ROOT)
        :: !marked_made -> marked_made = true; push(injector, MARKED)
        fi
     :: burst > 0 -> burst = 0; break
     od
  :: break
  od
}
