export { address, serviceConfig } from './config.ts';
export type { ConfigSource, DatabaseConfig, ObjectsServiceConfig, RpcConfig } from './config.ts';
export { consume } from './consumers.ts';
export type { Consumer, ConsumerRoute } from './consumers.ts';
export { defineService } from './define-service.ts';
export type { Host, Schedule, Service, ServiceDefinition } from './define-service.ts';
