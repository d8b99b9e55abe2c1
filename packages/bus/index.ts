export { claim, alreadyClaimed, pruneClaims } from './claim.ts';
export { openDeadLetters } from './open-dead-letters.ts';
export { REDELIVER } from './dead-letters.ts';
export type {
  Choose,
  ReplayAction,
  DeadLetter,
  DeadLetters,
  Replayed,
  DeadLetterFilter,
} from './dead-letters.ts';
export type { Kafka } from './kafka/config.ts';
export { removeLargeBodies } from './kafka/large-bodies.ts';
export { migrateBus } from './queue/migrate.ts';
export type { BusSchema } from './queue/migrate.ts';
export { BusConfig, openBus, openListener } from './open.ts';
export type { ListenConfig } from './open.ts';
export type { BusOptions } from './config.ts';
export { prepareBus } from './prepare.ts';
export type { EventUse } from './prepare.ts';
export { redeliveryWindowDays } from './retention.ts';
export { kafkaFrom, KafkaVariables, requiredKafka, RequiredKafkaVariables } from './kafka/variables.ts';
export { Poison, route, DISCARD } from './port.ts';
export type {
  AnyRoute,
  Bus,
  ConsumerDepth,
  FailureReason,
  RemovedEvents,
  Listener,
  GiveUpResult,
  Route,
  Subscription,
  SubscriptionOptions,
} from './port.ts';
