import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Fault } from '@call-analysis/fault';
import { waitUntil } from '@call-analysis/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { SpeechEngine } from '../engine.ts';
import { Ears, type EarsOptions } from './ears.ts';

const program = fileURLToPath(new URL('./test/stand-in-ear.ts', import.meta.url));
let directory: string;
const opened: Ears[] = [];
let recordings = 0;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'call-analysis-ears-'));
});
afterEach(() => {
  jest.useRealTimers();
  for (const ears of opened.splice(0)) ears.close();
});
afterAll(() => rm(directory, { recursive: true, force: true }));

function open(options: Partial<EarsOptions> = {}): Ears {
  const ears = new Ears({ count: 2, recognition: { by: 'models', models: [], directory }, program, ...options });
  opened.push(ears);
  return ears;
}

/** By the time that this returns, an ear has been taken if one was free. */
function hear(ears: Ears, what: string, onProgress?: (seconds: number) => void) {
  const file = join(directory, `${++recordings}`);
  writeFileSync(file, what);
  return ears.hear({ file, format: 'wav', duration: 10, ...(onProgress === undefined ? {} : { onProgress }) });
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** From here on limits are met when the test says so, whatever the machine is at. */
function stopTimers(): void {
  jest.useFakeTimers({
    doNotFake: ['Date', 'hrtime', 'nextTick', 'performance', 'queueMicrotask', 'setImmediate', 'setInterval'],
  });
}

describe('ears', () => {
  it('are not there until there is something to hear, and are used again', async () => {
    const ears = open();
    expect(ears.pids).toEqual([]);
    await hear(ears, 'hello');
    const [pid] = ears.pids;
    expect((await hear(ears, 'hello')).said).toHaveLength(1);
    expect(ears.pids).toEqual([pid]);
  });

  it('end when there is nothing to hear', async () => {
    const ears = open({ idleMs: 50 });
    const hearing = hear(ears, 'hello');
    const [pid] = ears.pids;
    expect(isRunning(pid!)).toBe(true);
    await hearing;
    await waitUntil(() => ears.pids.length === 0 && !isRunning(pid!));
  });

  it('are no more than they may be, and all get their turn', async () => {
    const ears = open();
    const counts: number[] = [];
    const hearing = Array.from({ length: 5 }, () => hear(ears, 'slow', () => counts.push(ears.pids.length)));
    expect(ears.pids).toHaveLength(2);
    await Promise.all(hearing);
    expect(Math.max(...counts, ears.pids.length)).toBe(2);
  });

  it.each([
    ['crash', 'ENGINE_CRASHED', 'SIGABRT'],
    ['die', 'ENGINE_CRASHED', 'SIGKILL'],
  ])('that %s take only what they heard along', async (what, code, signal) => {
    const ears = open({ count: 1 });
    const [lost, next] = await Promise.allSettled([hear(ears, what), hear(ears, 'hello')]);
    expect(lost).toMatchObject({ status: 'rejected', reason: { kind: 'unavailable', code } });
    expect((lost as PromiseRejectedResult).reason.message).toContain(signal);
    expect(next).toMatchObject({ status: 'fulfilled' });
  });

  it('that are killed from outside in the middle are told of, and replaced', async () => {
    const ears = open({ count: 1 });
    const begun = Promise.withResolvers<number>();
    const lost = hear(ears, 'endless', begun.resolve);
    await begun.promise;
    process.kill(ears.pids[0]!, 'SIGKILL');
    await expect(lost).rejects.toMatchObject({ code: 'ENGINE_CRASHED' });
    await expect(hear(ears, 'hello')).resolves.toMatchObject({ duration: 10 });
  });

  it('that hang are killed', async () => {
    const ears = open({ stallMs: 400 });
    const hung = hear(ears, 'hang');
    const [pid] = ears.pids;
    await expect(hung).rejects.toMatchObject({ kind: 'unavailable', code: 'ENGINE_STALLED' });
    await waitUntil(() => !isRunning(pid!));
  });

  it('that make progress are not killed however long they hear, until they make none', async () => {
    stopTimers();
    const ears = open({ stallMs: 100_000 });
    const limitMs = 100_500;
    let words = 0;
    const hearing = hear(ears, 'bidden', () => words++);
    const lost = expect(hearing).rejects.toMatchObject({ code: 'ENGINE_STALLED' });
    const [pid] = ears.pids;
    for (let turn = 1; turn <= 3; turn++) {
      await waitUntil(() => words === turn);
      jest.advanceTimersByTime(limitMs - 1);
      expect(ears.use.busy).toBe(1);
      expect(isRunning(pid!)).toBe(true);
      process.kill(pid!, 'SIGUSR2');
    }
    await waitUntil(() => words === 4);
    jest.advanceTimersByTime(limitMs);
    await lost;
    await waitUntil(() => !isRunning(pid!));
  });

  it('pass on what is wrong with a recording, and go on', async () => {
    const ears = open({ count: 1 });
    await expect(hear(ears, 'unreadable')).rejects.toEqual(
      new Fault('invalid', 'AUDIO_UNREADABLE', 'The recording is broken.'),
    );
    const [pid] = ears.pids;
    await hear(ears, 'hello');
    expect(ears.pids).toEqual([pid]);
  });

  it('with a bug are not trusted again', async () => {
    const ears = open({ count: 1 });
    await expect(hear(ears, 'bug')).rejects.toThrow('undefined is not a function');
    expect(ears.pids).toEqual([]);
    await hear(ears, 'hello');
  });

  it('see nothing of the environment', async () => {
    process.env['SECRET_OF_THE_TEST'] = 'x';
    await expect(hear(open(), 'environment')).rejects.toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('SECRET') }),
    );
  });

  it('end at once when they are closed, whatever they hear, and hear nothing more', async () => {
    const ears = open();
    const hearing = Promise.allSettled(['endless', 'hang', 'hello'].map((what) => hear(ears, what)));
    const { pids } = ears;
    expect(pids).toHaveLength(2);
    ears.close();
    for (const result of await hearing) expect(result).toMatchObject({ reason: { code: 'ENGINE_CLOSED' } });
    await waitUntil(() => !pids.some(isRunning));
    await expect(hear(ears, 'hello')).rejects.toMatchObject({ code: 'ENGINE_CLOSED' });
  });

  it('end with whoever asked them', async () => {
    const { fork } = await import('node:child_process');
    const parent = fork(fileURLToPath(new URL('./test/asker.ts', import.meta.url)), [directory], { execArgv: [] });
    const pid = await new Promise<number>((resolve) => {
      parent.on('message', (message) => resolve(message as number));
    });
    expect(isRunning(pid)).toBe(true);
    parent.kill('SIGKILL');
    await waitUntil(() => !isRunning(pid));
  });

  describe('that only cut', () => {
    function engine(hears: SpeechEngine['hear']): Partial<EarsOptions> {
      const other: SpeechEngine = {
        name: 'other',
        maxPieceSeconds: 30,
        concurrency: 1,
        hear: hears,
        close: async () => {},
      };
      return { engine: other, recognition: { by: 'engine', name: 'other', maxPieceSeconds: 30 } };
    }

    it('hand their pieces to the engine, with what is known of the language', async () => {
      const asked: unknown[] = [];
      const ears = open(
        engine(async ({ samples }, { language }) => {
          asked.push([[...samples], language]);
          return { utterances: [], language: null };
        }),
      );
      await hear(ears, 'ask');
      expect(asked).toEqual([[[0.25, -0.5], 'ru']]);
    });

    it('do not stall while the engine takes its time', async () => {
      stopTimers();
      const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const slow = engine(async () => {
        asked.resolve();
        await answer.promise;
        return { utterances: [], language: null };
      });
      const hearing = hear(open({ ...slow, stallMs: 300 }), 'ask');
      await asked.promise;
      jest.advanceTimersByTime(3_600_000);
      answer.resolve();
      await expect(hearing).resolves.toMatchObject({ duration: 10 });
    });

    it("fail with the engine's own fault", async () => {
      const fault = new Fault('unavailable', 'ENGINE_UNAVAILABLE', 'The speech server does not answer.');
      await expect(hear(open(engine(() => Promise.reject(fault))), 'ask')).rejects.toBe(fault);
    });

    it('take the question back when they are closed', async () => {
      const asked = Promise.withResolvers<void>();
      const aborted = Promise.withResolvers<string>();
      const ears = open(
        engine((_, { signal }) => {
          asked.resolve();
          signal.addEventListener('abort', () => aborted.resolve('taken back'));
          return new Promise(() => {});
        }),
      );
      const hearing = hear(ears, 'ask').catch(() => {});
      await asked.promise;
      ears.close();
      expect(await aborted.promise).toBe('taken back');
      await hearing;
    });
  });
});
