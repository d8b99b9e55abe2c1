export { buried, bury, pruneBuried } from './buried.ts';
export { claim, claimedBefore, pruneClaims } from './claim.ts';
export { openDeadLetters } from './open-dead-letters.ts';
export { AGAIN } from './dead-letter-office.ts';
export type { Choose, Course, DeadLetter, DeadLetterOffice, Replayed, WhichLetters } from './dead-letter-office.ts';
export { giveUpCall } from './give-up-call.ts';
export type { GivenUp } from './give-up-call.ts';
export { InHand } from './in-hand.ts';
export type { Kafka } from './kafka/config.ts';
export { removeLargeBodies } from './large-bodies.ts';
export { migrateBus } from './migrate.ts';
export type { BusSchema } from './migrate.ts';
export { BusConfig, openBus, openListener } from './open.ts';
export type { ListenConfig } from './open.ts';
export type { BusOptions } from './options.ts';
export { prepareBus } from './prepare.ts';
export type { Facts } from './prepare.ts';
export { comesAgainWithinDays } from './retention.ts';
export { kafkaFrom, KafkaVariables, sharedKafka, SharedKafkaVariables } from './variables.ts';
export { Poison, route, UNWANTED } from './port.ts';
export type {
  AnyRoute,
  Bus,
  ConsumerDepth,
  DeadReason,
  Forgotten,
  Listener,
  Obituary,
  Route,
  Subscription,
  SubscriptionOptions,
} from './port.ts';
