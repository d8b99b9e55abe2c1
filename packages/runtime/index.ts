export {
  byteSize,
  ConfigFault,
  duration,
  earlyLogLevel,
  type Environment,
  group,
  hostAndPort,
  logLevel,
  parseByteSize,
  parseConfig,
  parseDuration,
  port,
  postgresUrl,
  readAll,
  readNamedFile,
  shared,
  withSecretFiles,
} from './config/config.ts';
export {
  describeVariables,
  requiring,
  type Variable,
  type VariableMeta,
  withSecrets,
} from './config/describe-variables.ts';
export {
  CloseVariables,
  DatabaseVariables,
  processFrom,
  type ProcessSettings,
  ProcessVariables,
  TelemetryVariables,
  tracesFrom,
} from './config/process-variables.ts';
export { type HealthServer, serveHealth } from './health/health-server.ts';
export { exportParts } from './health/part-metrics.ts';
export { type Missing, type Part, Readiness } from './health/readiness.ts';
export {
  childTraceparent,
  type Context,
  currentContext,
  isRequestId,
  isTraceparent,
  newContext,
  newTraceparent,
  withContext,
} from './log/context.ts';
export { createLog, type Logger, type LogLevel } from './log/log.ts';
export { Closing } from './process/closing.ts';
export { isAlive } from './process/is-alive.ts';
export { type Running, runProcess } from './process/process.ts';
export {
  type RunningService,
  runService,
  type ServiceSettings,
  type StartableService,
} from './process/service-process.ts';
export { StartFault } from './process/start-fault.ts';
export { SHUTDOWN_MARGIN_MS, timeLeft, type TimeLeft } from './process/time-left.ts';
export {
  cachedFor,
  counter,
  exposition,
  EXPOSITION_TYPE,
  gauge,
  histogram,
  METRIC_PREFIX,
  type Reading,
  SECONDS,
} from './telemetry/metrics.ts';
export { exportSpans, type SpanExportOptions } from './telemetry/span-export.ts';
export { isTracing, recordSpan, type Span, receiveSpans } from './telemetry/spans.ts';
