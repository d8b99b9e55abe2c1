export { alreadyClaimed, claim, pruneClaims } from './claim.ts';
export { BusConfig, redeliveryWindowDays } from './config.ts';
export type { BusOptions, ListenConfig } from './config.ts';
export { REDELIVER } from './dead-letters.ts';
export type {
  ChooseReplayAction,
  DeadLetter,
  DeadLetterFilter,
  DeadLetters,
  ReplayAction,
  ReplayResult,
} from './dead-letters.ts';
export type { Kafka } from './kafka/config.ts';
export { removeLargeBodies } from './kafka/large-bodies.ts';
export type { KafkaUse } from './kafka/rights/rights.ts';
export { kafkaFrom, KafkaVariables, requiredKafka, RequiredKafkaVariables } from './kafka/variables.ts';
export { openBus, openDeadLetters, openListener } from './open.ts';
export { DISCARD, Poison, route } from './port.ts';
export type {
  AnyRoute,
  Bus,
  ConsumerDepth,
  FailureReason,
  GiveUpResult,
  Listener,
  RemovedEvents,
  Route,
  Subscription,
  SubscriptionOptions,
} from './port.ts';
export { migrateBus, prepareBus } from './prepare.ts';
export type { EventUse } from './prepare.ts';
export type { BusSchema } from './queue/migrate.ts';
