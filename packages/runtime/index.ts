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
