export {
  byteSize,
  ConfigFault,
  duration,
  earlyLogLevel,
  type Environment,
  group,
  hasNoCredentials,
  hostAndPort,
  parseConfig,
  parseDuration,
  port,
  postgresUrl,
  readAll,
  readNamedFile,
  shared,
  StartFault,
} from './config/config.ts';
export { describeVariables, requiring, type Variable, withSecrets } from './config/describe-variables.ts';
export {
  CloseVariables,
  DatabaseVariables,
  processFrom,
  ProcessVariables,
  TelemetryVariables,
  tracesFrom,
} from './config/process-variables.ts';
export { isDiskFull, syncFolder } from './disk.ts';
export { exportParts, type Part, Readiness } from './health/readiness.ts';
export {
  childTraceparent,
  type Context,
  currentContext,
  type IncomingContext,
  incomingContext,
  isRequestId,
  isTraceparent,
  newContext,
  newTraceparent,
  withContext,
} from './log/context.ts';
export { createLog, type Logger, type LogLevel } from './log/log.ts';
export { Closing, SHUTDOWN_MARGIN_MS, timeLeft, type TimeLeft } from './process/closing.ts';
export { isAlive, runProcess } from './process/process.ts';
export { type RunningService, runService, type ServiceSettings } from './process/service-process.ts';
export { settlesWithin } from './settles-within.ts';
export { retryAfterMs } from './retry-after.ts';
export {
  cachedFor,
  counter,
  exposition,
  EXPOSITION_TYPE,
  gauge,
  histogram,
  METRIC_PREFIX,
} from './telemetry/metrics.ts';
export { exportSpans, isTracing, recordSpan, type SpanExportOptions } from './telemetry/spans.ts';
