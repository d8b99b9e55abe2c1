export * from './analysis.ts';
export * from './declared-events.ts';
export * from './envelope.ts';
export * from './event-types.ts';
export * from './scorecard.ts';
export * from './transcript.ts';
