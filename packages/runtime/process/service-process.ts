import { setTimeout as pause } from 'node:timers/promises';
import { Fault } from '@call-analysis/fault';
import type { z } from 'zod';
import { earlyLogLevel, type Environment } from '../config/config.ts';
import { describeVariables, type Variable } from '../config/describe-variables.ts';
import type { ProcessSettings } from '../config/process-variables.ts';
import { type HealthServer, serveHealth } from '../health/health-server.ts';
import type { Readiness } from '../health/readiness.ts';
import { createLog, type Logger } from '../log/log.ts';
import { exportSpans } from '../telemetry/span-export.ts';
import { Closing } from './closing.ts';
import { type Running, runProcess } from './process.ts';
import { StartFault } from './start-fault.ts';
import { ENDING_MS, type TimeLeft, timeLeft } from './time-left.ts';

/** What a process of one service is told by its environment. */
export interface ServiceSettings<Config> {
  readonly process: ProcessSettings;
  readonly config: Config;
}

/** A service at work. */
export interface RunningService extends Running {
  readonly readiness: Readiness;
  /** Where it serves RPCs, when it does. */
  readonly address?: string;
  /** Where it serves HTTP, when it does. */
  readonly url?: string;
}

/** A service as its start.ts exports it. */
export interface StartableService<Config> {
  /** `left` says how long what is in hand may go on once the service closes. */
  start(config: Config, parts: { log: Logger; left: TimeLeft }): Promise<RunningService>;
  /** Brings its tables, queues and topics up to date; safe to do again, and by several at once. */
  prepare(config: Config, parts: { log: Logger }): Promise<void>;
}

/** What a service's main.ts knows of it before anything is loaded. */
export interface ServiceProcess<Config> {
  readonly name: string;
  /** What follows the service's name on the command line. */
  readonly args: readonly string[];
  readonly env: Environment;
  /** What the service does, in a sentence. */
  readonly about: string;
  readonly variables: readonly z.ZodObject[];
  readonly readConfig: (env: Environment) => ServiceSettings<Config>;
  /** Only done when the settings are good, so that a wrong one is said at once. */
  readonly load: () => Promise<StartableService<Config>>;
}

/**
 * The whole life of a process of one service: without arguments it serves, `migrate` prepares and exits, `--help` explains.
 * Told to stop, it says so to whoever watches, goes on serving for DRAIN, refuses new work, finishes what it has as far as
 * CLOSE_TIMEOUT lets it, closes. A pod's grace period is the sum of both, ENDING_MS and some.
 */
export async function runService<Config>(service: ServiceProcess<Config>): Promise<void> {
  const { name, args, env } = service;
  if (args.includes('--help') || args.includes('-h')) {
    console.log(helpOf(service));
    return;
  }
  const [command, ...more] = args;
  const log = createLog({ name: 'call-analysis', level: earlyLogLevel(env) }).child({ service: name });
  if (command === undefined) {
    await serve(service, log);
  } else if (command === 'migrate' && more.length === 0) {
    await prepare(service, log);
  } else {
    console.error(`${name} takes migrate, --help or nothing, not "${args.join(' ')}".`);
    process.exitCode = 2;
  }
}

async function serve<Config>({ name, env, readConfig, load }: ServiceProcess<Config>, log: Logger): Promise<never> {
  let graceMs = ENDING_MS;
  return runProcess({
    log,
    graceMs: () => graceMs,
    start: async (signal) => {
      const settings = readConfig(env);
      const { drainMs, closeMs } = settings.process;
      graceMs = drainMs + closeMs + ENDING_MS;
      const closing = new Closing(log);
      try {
        const health = await serveHealth(settings.process.health);
        closing.add('health', () => health.close());
        if (settings.process.traces !== undefined) {
          const traces = await exportSpans(settings.process.traces, log);
          closing.add('traces', () => traces.close());
        }
        const { start } = await load();
        const running = await start(settings.config, { log, left: timeLeft(closeMs) });
        closing.add(name, () => running.close());
        // Nobody has been sent here by then who would have to be sent elsewhere.
        if (!signal.aborted) closing.add('drain', () => drain(running.readiness, drainMs));
        health.started(running.readiness);
        console.log(readyLine(name, running, health));
        return { close: () => closing.close() };
      } catch (error) {
        await closing.close().catch(() => {});
        throw inOneSentence(error);
      }
    },
  });
}

/** Whoever balances loads needs a moment to notice, and until then sends work that must not fail. */
async function drain(readiness: Readiness, drainMs: number): Promise<void> {
  readiness.drain();
  await pause(drainMs);
}

function readyLine(name: string, { address, url }: RunningService, health: HealthServer): string {
  const places = { http: url, rpc: address, health: health.url };
  const named = Object.entries(places).flatMap(([kind, place]) => (place === undefined ? [] : [`${kind}=${place}`]));
  return `ready ${name} ${named.join(' ')}`;
}

async function prepare<Config>({ name, env, readConfig, load }: ServiceProcess<Config>, log: Logger): Promise<void> {
  try {
    const { config } = readConfig(env);
    const { prepare: work } = await load();
    await work(config, { log });
    log.info({}, `${name} is up to date`);
    process.exit(0);
  } catch (thrown) {
    const error = inOneSentence(thrown);
    if (error instanceof StartFault) process.stderr.write(`${error.message}\n`);
    else log.error({ err: error }, 'migrating failed');
    process.exit(1);
  }
}

function helpOf({ name, about, variables }: Pick<ServiceProcess<never>, 'name' | 'about' | 'variables'>): string {
  return `Usage: npm run service -- ${name} [migrate]

${about}
With migrate, it makes or updates its tables, queues and topics, and exits. Its environment:

${describeVariables(variables).map(explained).join('\n')}

A secret may also come from a file, whose name is then in NAME_FILE. docs/configuration.md has all services.`;
}

function explained(variable: Variable): string {
  const standard = variable.required ? ' (required)' : variable.default === undefined ? '' : ` (${variable.default})`;
  return `  ${variable.name}${standard}${variable.secret ? ', a secret' : ''}\n      ${variable.description.replaceAll('`', '')}`;
}

/** A part that is away is nothing that a stack would explain. */
function inOneSentence(error: unknown): unknown {
  const isAway = error instanceof Fault && error.kind === 'unavailable';
  return isAway ? new StartFault(error.message, { cause: error }) : error;
}
