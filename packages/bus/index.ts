export { buried, bury, pruneBuried } from './buried.ts';
export { claim, pruneClaims } from './claim.ts';
export { migrateBus } from './migrate.ts';
export type { BusSchema } from './migrate.ts';
export { BusConfig, openBus } from './open.ts';
export type { BusOptions } from './options.ts';
export { Poison, route } from './port.ts';
export type {
  AnyRoute,
  Bus,
  ConsumerDepth,
  DeadReason,
  Forgotten,
  Route,
  Subscription,
  SubscriptionOptions,
} from './port.ts';
