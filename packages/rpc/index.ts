export { dial } from './dial.ts';
export type { Channel, DialOptions } from './dial.ts';
export type { Call, CallOptions, Client, Handlers } from './methods.ts';
export { implement, serve } from './serve.ts';
export type { Server } from './serve.ts';
export type { Implementation } from './answer.ts';
