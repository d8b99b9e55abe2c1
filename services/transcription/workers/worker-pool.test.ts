import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Fault } from '@call-analysis/fault';
import { waitUntil } from '@call-analysis/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { SpeechEngine } from '../engines/speech-engine.ts';
import type { Model } from '../models/model.ts';
import { TranscriptionWorkerPool, type WorkerPoolOptions } from './worker-pool.ts';

const program = fileURLToPath(new URL('../test/scripted-worker.ts', import.meta.url));
let directory: string;
const opened: TranscriptionWorkerPool[] = [];
let recordings = 0;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'call-analysis-workers-'));
});
afterEach(() => {
  jest.useRealTimers();
  for (const pool of opened.splice(0)) pool.close();
});
afterAll(() => rm(directory, { recursive: true, force: true }));

function open(options: Partial<WorkerPoolOptions> = {}): TranscriptionWorkerPool {
  const pool = new TranscriptionWorkerPool({
    size: 2,
    recognition: () => ({ by: 'models', models: [], directory }),
    program,
    ...options,
  });
  opened.push(pool);
  return pool;
}

/** When this returns, the job has a worker if one was free. */
function transcribe(pool: TranscriptionWorkerPool, behaviour: string, onProgress?: (seconds: number) => void) {
  const file = join(directory, `${++recordings}`);
  writeFileSync(file, behaviour);
  return pool.transcribe({ file, format: 'wav', duration: 10, ...(onProgress === undefined ? {} : { onProgress }) });
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** From here on the test decides when a time limit is reached. */
function fakeTimers(): void {
  jest.useFakeTimers({
    doNotFake: ['Date', 'hrtime', 'nextTick', 'performance', 'queueMicrotask', 'setImmediate', 'setInterval'],
  });
}

describe('transcription workers', () => {
  it('start with the first recording and are reused', async () => {
    const pool = open();
    expect(pool.pids).toEqual([]);
    await transcribe(pool, 'hello');
    const [pid] = pool.pids;
    expect((await transcribe(pool, 'hello')).utterances).toHaveLength(1);
    expect(pool.pids).toEqual([pid]);
  });

  it('are replaced between recordings once they hold more than 400 MB', async () => {
    const pool = open({ size: 1 });
    const jobs = [transcribe(pool, 'large'), transcribe(pool, 'hello')];
    const [pid] = pool.pids;
    for (const { utterances } of await Promise.all(jobs)) expect(utterances).toHaveLength(1);
    expect(pool.pids).toHaveLength(1);
    expect(pool.pids).not.toEqual([pid]);
    await waitUntil(() => !isRunning(pid!));
  });

  it('hold more than that when the configured models are large', async () => {
    const large: Model = { name: 'large', kind: 'whisper', languages: [], files: {}, bytes: 200e6 };
    const pool = open({ size: 1, recognition: () => ({ by: 'models', models: [large], directory }) });
    await transcribe(pool, 'large');
    const [pid] = pool.pids;
    await transcribe(pool, 'hello');
    expect(pool.pids).toEqual([pid]);
  });

  it('are replaced before the next recording when the models have changed, and are told the new ones', async () => {
    let models: readonly Model[] = [];
    const pool = open({ recognition: () => ({ by: 'models', models, directory }) });
    expect((await transcribe(pool, 'models')).utterances[0]).toMatchObject({ text: '' });
    const [before] = pool.pids;
    models = [{ name: 'added', kind: 'whisper', languages: ['ru'], files: {} }];
    expect((await transcribe(pool, 'models')).utterances[0]).toMatchObject({ text: 'added' });
    expect(pool.pids).not.toContain(before);
    const [after] = pool.pids;
    await transcribe(pool, 'models');
    expect(pool.pids).toEqual([after]);
  });

  it('end when they are idle', async () => {
    const pool = open({ idleMs: 50 });
    const job = transcribe(pool, 'hello');
    const [pid] = pool.pids;
    expect(isRunning(pid!)).toBe(true);
    await job;
    await waitUntil(() => pool.pids.length === 0 && !isRunning(pid!));
  });

  it('never exceed the pool size, and every recording gets one', async () => {
    const pool = open();
    const counts: number[] = [];
    const jobs = Array.from({ length: 5 }, () => transcribe(pool, 'slow', () => counts.push(pool.pids.length)));
    expect(pool.pids).toHaveLength(2);
    await Promise.all(jobs);
    expect(Math.max(...counts, pool.pids.length)).toBe(2);
  });

  it.each([
    ['crash', 'ENGINE_CRASHED', 'SIGABRT'],
    ['die', 'ENGINE_CRASHED', 'SIGKILL'],
  ])('that %s fail only their own recording', async (behaviour, code, signal) => {
    const pool = open({ size: 1 });
    const [lost, next] = await Promise.allSettled([transcribe(pool, behaviour), transcribe(pool, 'hello')]);
    expect(lost).toMatchObject({ status: 'rejected', reason: { kind: 'unavailable', code } });
    expect((lost as PromiseRejectedResult).reason.message).toContain(signal);
    expect(next).toMatchObject({ status: 'fulfilled' });
  });

  it('that are killed during a recording are reported and replaced', async () => {
    const pool = open({ size: 1 });
    const started = Promise.withResolvers<number>();
    const lost = transcribe(pool, 'endless', started.resolve);
    await started.promise;
    process.kill(pool.pids[0]!, 'SIGKILL');
    await expect(lost).rejects.toMatchObject({ code: 'ENGINE_CRASHED' });
    await expect(transcribe(pool, 'hello')).resolves.toMatchObject({ duration: 10 });
  });

  it('that hang are killed', async () => {
    const pool = open({ stallMs: 400 });
    const hung = transcribe(pool, 'hang');
    const [pid] = pool.pids;
    await expect(hung).rejects.toMatchObject({ kind: 'unavailable', code: 'ENGINE_STALLED' });
    await waitUntil(() => !isRunning(pid!));
  });

  it('are not killed as long as they make progress, and are killed once they make none', async () => {
    fakeTimers();
    const pool = open({ stallMs: 100_000 });
    const limitMs = 100_500;
    let messages = 0;
    const job = transcribe(pool, 'on-signal', () => messages++);
    const lost = expect(job).rejects.toMatchObject({ code: 'ENGINE_STALLED' });
    const [pid] = pool.pids;
    for (let round = 1; round <= 3; round++) {
      await waitUntil(() => messages === round);
      jest.advanceTimersByTime(limitMs - 1);
      expect(pool.usage.busy).toBe(1);
      expect(isRunning(pid!)).toBe(true);
      process.kill(pid!, 'SIGUSR2');
    }
    await waitUntil(() => messages === 4);
    jest.advanceTimersByTime(limitMs);
    await lost;
    await waitUntil(() => !isRunning(pid!));
  });

  it('report a broken recording and stay in use', async () => {
    const pool = open({ size: 1 });
    await expect(transcribe(pool, 'unreadable')).rejects.toEqual(
      new Fault('invalid', 'AUDIO_UNREADABLE', 'The recording is broken.'),
    );
    const [pid] = pool.pids;
    await transcribe(pool, 'hello');
    expect(pool.pids).toEqual([pid]);
  });

  it('with a bug are not reused', async () => {
    const pool = open({ size: 1 });
    await expect(transcribe(pool, 'bug')).rejects.toThrow('undefined is not a function');
    expect(pool.pids).toEqual([]);
    await transcribe(pool, 'hello');
  });

  it('get an empty environment', async () => {
    process.env['SECRET_OF_THE_TEST'] = 'x';
    await expect(transcribe(open(), 'environment')).rejects.toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('SECRET') }),
    );
  });

  it('end immediately when the pool is closed, and further recordings are refused', async () => {
    const pool = open();
    const job = Promise.allSettled(['endless', 'hang', 'hello'].map((behaviour) => transcribe(pool, behaviour)));
    const { pids } = pool;
    expect(pids).toHaveLength(2);
    pool.close();
    for (const result of await job) expect(result).toMatchObject({ reason: { code: 'ENGINE_CLOSED' } });
    await waitUntil(() => !pids.some(isRunning));
    await expect(transcribe(pool, 'hello')).rejects.toMatchObject({ code: 'ENGINE_CLOSED' });
  });

  it('end with the process that started them', async () => {
    const { fork } = await import('node:child_process');
    const parent = fork(fileURLToPath(new URL('../test/pool-owner.ts', import.meta.url)), [directory], {
      execArgv: [],
    });
    const pid = await new Promise<number>((resolve) => {
      parent.on('message', (message) => resolve(message as number));
    });
    expect(isRunning(pid)).toBe(true);
    parent.kill('SIGKILL');
    await waitUntil(() => !isRunning(pid));
  });

  describe('with an engine', () => {
    function engine(transcribe: SpeechEngine['transcribe']): Partial<WorkerPoolOptions> {
      const other: SpeechEngine = {
        name: 'other',
        maxSegmentSeconds: 30,
        concurrency: 1,
        transcribe,
        close: async () => {},
      };
      return { engine: other, recognition: () => ({ by: 'engine', name: 'other', maxSegmentSeconds: 30 }) };
    }

    it('send their segments to the engine, with the language as far as it is known', async () => {
      const received: unknown[] = [];
      const pool = open(
        engine(async ({ samples }, { language }) => {
          received.push([[...samples], language]);
          return { utterances: [], language: null };
        }),
      );
      await transcribe(pool, 'segment');
      expect(received).toEqual([[[0.25, -0.5], 'ru']]);
    });

    it('are not taken for stalled while the engine works', async () => {
      fakeTimers();
      const [requested, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const slow = engine(async () => {
        requested.resolve();
        await answer.promise;
        return { utterances: [], language: null };
      });
      const job = transcribe(open({ ...slow, stallMs: 300 }), 'segment');
      await requested.promise;
      jest.advanceTimersByTime(3_600_000);
      answer.resolve();
      await expect(job).resolves.toMatchObject({ duration: 10 });
    });

    it("fail with the engine's own fault", async () => {
      const fault = new Fault('unavailable', 'ENGINE_UNAVAILABLE', 'The speech server does not answer.');
      await expect(transcribe(open(engine(() => Promise.reject(fault))), 'segment')).rejects.toBe(fault);
    });

    it('abort their request to the engine when the pool is closed', async () => {
      const requested = Promise.withResolvers<void>();
      const aborted = Promise.withResolvers<string>();
      const pool = open(
        engine((_, { signal }) => {
          requested.resolve();
          signal.addEventListener('abort', () => aborted.resolve('aborted'));
          return new Promise(() => {});
        }),
      );
      const job = transcribe(pool, 'segment').catch(() => {});
      await requested.promise;
      pool.close();
      expect(await aborted.promise).toBe('aborted');
      await job;
    });
  });
});
