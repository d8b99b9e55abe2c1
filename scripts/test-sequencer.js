import Sequencer from '@jest/test-sequencer';

/** Tests of systems of several processes take a minute or two, and all others seconds. */
const SYSTEMS = /\/deploy\//;
const OTHERS_BETWEEN = 3;

/**
 * Without the times of an earlier run, as in a fresh clone, Jest begins with the largest files. Some of the longest tests stand
 * in small files, and would begin when the others are done. Here they begin early, with others between them.
 */
export default class TestSequencer extends Sequencer {
  sort(tests) {
    const sorted = [...super.sort(tests)];
    if (sorted.some(({ duration }) => duration !== undefined)) return sorted;
    const systems = sorted.filter(({ path }) => SYSTEMS.test(path));
    const others = sorted.filter(({ path }) => !SYSTEMS.test(path));
    return [...systems.flatMap((test) => [test, ...others.splice(0, OTHERS_BETWEEN)]), ...others];
  }
}
