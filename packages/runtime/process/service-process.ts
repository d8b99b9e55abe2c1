import { setTimeout as pause } from 'node:timers/promises';
import { Fault } from '@call-analysis/fault';
import type { z } from 'zod';
import { earlyLogLevel, type Environment, StartFault } from '../config/config.ts';
import { describeVariables, type Variable } from '../config/describe-variables.ts';
import type { ProcessSettings } from '../config/process-variables.ts';
import { type HealthServer, serveHealth } from '../health/health-server.ts';
import type { Readiness } from '../health/readiness.ts';
import { createLog, type Logger } from '../log/log.ts';
import { exportSpans } from '../telemetry/spans.ts';
import { Closing, SHUTDOWN_MARGIN_MS, type TimeLeft, timeLeft } from './closing.ts';
import { type Running, runProcess } from './process.ts';

/** The settings of a process that runs one service. */
export interface ServiceSettings<Config> {
  readonly process: ProcessSettings;
  readonly config: Config;
}

/** A service that has started. */
export interface RunningService extends Running {
  readonly readiness: Readiness;
  /** The address of its RPC server, if it has one. */
  readonly address?: string;
  /** The URL of its HTTP server, if it has one. */
  readonly url?: string;
}

/** The export of a service's start.ts. */
interface StartableService<Config> {
  /** `left` returns how long work in progress may continue once the service closes. */
  start(config: Config, parts: { log: Logger; left: TimeLeft }): Promise<RunningService>;
  /** Brings its tables, queues and topics up to date. May be repeated, also by several processes at the same time. */
  prepare(config: Config, parts: { log: Logger }): Promise<void>;
}

/** The facts that a service's main.ts has before it loads the service. */
interface ServiceProcess<Config> {
  readonly name: string;
  /** The command line after the service's name. */
  readonly args: readonly string[];
  readonly env: Environment;
  /** One sentence that says what the service does. */
  readonly about: string;
  readonly variables: readonly z.ZodObject[];
  readonly readConfig: (env: Environment) => ServiceSettings<Config>;
  /** Called after the settings were read, so that a wrong setting is reported without delay. */
  readonly load: () => Promise<StartableService<Config>>;
}

/**
 * Runs a process of one service: without arguments it serves, `migrate` prepares and exits, `--help` explains.
 * To stop, it reports not ready and serves for another DRAIN. Then it refuses new work, finishes work in progress
 * within CLOSE_TIMEOUT, and closes. A pod's grace period must exceed the sum of both and SHUTDOWN_MARGIN_MS.
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
  let graceMs = SHUTDOWN_MARGIN_MS;
  return runProcess({
    log,
    graceMs: () => graceMs,
    start: async (signal) => {
      const settings = readConfig(env);
      const { drainMs, closeMs } = settings.process;
      graceMs = drainMs + closeMs + SHUTDOWN_MARGIN_MS;
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
        // A process that was never ready has no traffic to drain.
        if (!signal.aborted) closing.add('drain', () => drain(running.readiness, drainMs));
        health.started(running.readiness);
        console.log(readyLine(name, running, health));
        return { close: () => closing.close() };
      } catch (error) {
        await closing.close().catch(() => {});
        throw asStartFault(error);
      }
    },
  });
}

/** Load balancers need a moment to notice, and until then send requests that must not fail. */
async function drain(readiness: Readiness, drainMs: number): Promise<void> {
  readiness.drain();
  await pause(drainMs);
}

function readyLine(name: string, { address, url }: RunningService, health: HealthServer): string {
  const addresses = { http: url, rpc: address, health: health.url };
  const named = Object.entries(addresses).flatMap(([kind, each]) => (each === undefined ? [] : [`${kind}=${each}`]));
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
    const error = asStartFault(thrown);
    if (error instanceof StartFault) process.stderr.write(`${error.message}\n`);
    else log.error({ err: error }, 'migrating failed');
    process.exit(1);
  }
}

function helpOf({ name, about, variables }: Pick<ServiceProcess<never>, 'name' | 'about' | 'variables'>): string {
  return `Usage: npm run service -- ${name} [migrate]

${about}
With migrate, it creates or updates its tables, queues and topics, and exits. Its environment:

${describeVariables(variables).map(explained).join('\n')}

A secret may also come from a file that NAME_FILE names. docs/configuration.md describes all services.`;
}

function explained(variable: Variable): string {
  const standard = variable.required ? ' (required)' : variable.default === undefined ? '' : ` (${variable.default})`;
  return `  ${variable.name}${standard}${variable.secret ? ', a secret' : ''}\n      ${variable.description.replaceAll('`', '')}`;
}

/** A part that does not answer is reported in one sentence: a stack would explain nothing. */
function asStartFault(error: unknown): unknown {
  const isUnavailable = error instanceof Fault && error.kind === 'unavailable';
  return isUnavailable ? new StartFault(error.message, { cause: error }) : error;
}
