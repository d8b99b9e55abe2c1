export { Closing } from './closing.ts';
export {
  byteSize,
  ConfigFault,
  duration,
  group,
  logLevel,
  parseByteSize,
  parseConfig,
  parseDuration,
  port,
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
export { createLog } from './log.ts';
export type { Logger, LogLevel } from './log.ts';
export { runProcess } from './process.ts';
export type { Running } from './process.ts';
export { StartFault } from './start-fault.ts';
export { exposition, EXPOSITION_TYPE } from './telemetry/exposition.ts';
export { counter, gauge, histogram, remembered, SECONDS } from './telemetry/metrics.ts';
export type { Reading } from './telemetry/metrics.ts';
export { exportSpans } from './telemetry/span-export.ts';
export type { SpanExportOptions } from './telemetry/span-export.ts';
export { isTracing, recordSpan, takeSpans } from './telemetry/spans.ts';
export type { Span } from './telemetry/spans.ts';
