export { alreadyClaimed, claim, once, pruneClaims, type Consuming } from './claim.ts';
export { type BusConfig, redeliveryWindowDays, type Kafka, type ListenConfig } from './config.ts';
export { removeLargeBodies } from './kafka/large-bodies.ts';
export type { KafkaUse } from './kafka/rights/rights.ts';
export { kafkaFrom, KafkaVariables, requiredKafka, RequiredKafkaVariables } from './kafka/variables.ts';
export { migrateBus, openBus, openDeadLetters, openListener, prepareBus } from './open.ts';
export {
  DISCARD,
  Poison,
  Postponed,
  REDELIVER,
  route,
  type Bus,
  type ChooseReplayAction,
  type ConsumerDepth,
  type DeadLetterFilter,
  type DeadLetters,
  type FailureReason,
  type GiveUpResult,
  type ReplayAction,
  type Subscription,
  type SubscriptionOptions,
} from './port.ts';
