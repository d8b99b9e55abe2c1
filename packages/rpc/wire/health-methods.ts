import { service } from 'grpc-health-check';
import type { Method } from './methods.ts';

/** The standard health service without List. Check has no side effects, though its .proto file does not say so. */
export const HEALTH_METHODS = {
  Check: { ...(service.Check as Method), options: { idempotency_level: 'NO_SIDE_EFFECTS' } },
  Watch: service.Watch as Method,
};
