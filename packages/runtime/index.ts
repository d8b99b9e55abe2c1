export { Closing } from './closing.ts';
export {
  byteSize,
  ConfigFault,
  duration,
  earlyLogLevel,
  group,
  hostAndPort,
  logLevel,
  parseByteSize,
  parseConfig,
  parseDuration,
  port,
  postgresUrl,
  readNamedFile,
  shared,
  readAll,
  withSecretFiles,
} from './config.ts';
export type { Environment } from './config.ts';
export {
  childTraceparent,
  currentContext,
  isRequestId,
  isTraceparent,
  newContext,
  newTraceparent,
  withContext,
} from './context.ts';
export type { Context } from './context.ts';
export { describeVariables, requiring, withSecrets } from './describe-variables.ts';
export type { Variable, VariableMeta } from './describe-variables.ts';
export { serveHealth } from './health-server.ts';
export type { HealthServer } from './health-server.ts';
export { isAlive } from './is-alive.ts';
export { createLog } from './log.ts';
export type { Logger, LogLevel } from './log.ts';
export { runProcess } from './process.ts';
export type { Running } from './process.ts';
export { Readiness } from './readiness.ts';
export type { Missing, Part } from './readiness.ts';
export { runService } from './service-process.ts';
export type { RunningService, ServiceSettings, StartableService } from './service-process.ts';
export { StartFault } from './start-fault.ts';
export { ENDING_MS, timeLeft } from './time-left.ts';
export type { TimeLeft } from './time-left.ts';
export { exposition, EXPOSITION_TYPE } from './telemetry/exposition.ts';
export { counter, gauge, histogram, remembered, SECONDS } from './telemetry/metrics.ts';
export type { Reading } from './telemetry/metrics.ts';
export { exportSpans } from './telemetry/span-export.ts';
export type { SpanExportOptions } from './telemetry/span-export.ts';
export { isTracing, recordSpan, takeSpans } from './telemetry/spans.ts';
export type { Span } from './telemetry/spans.ts';
export {
  CloseVariables,
  DatabaseVariables,
  processFrom,
  ProcessVariables,
  TelemetryVariables,
  tracesFrom,
} from './variables.ts';
export type { ProcessSettings } from './variables.ts';
