import type { Server, ServiceDefinition } from '@grpc/grpc-js';
import type { AnyDefinition } from '@grpc/proto-loader';
import { ReflectionService } from '@grpc/reflection';
import { methodsOf } from './methods.ts';

/** Lets tools such as grpcurl ask what is served, with all messages: the standard service, v1 and v1alpha. */
export function addReflection(server: Server, services: readonly ServiceDefinition[]): void {
  // The descriptors of a .proto file hang on each type in it, and each service of ours has its file.
  const types = services
    .flatMap((service) => methodsOf(service))
    .flatMap(([, { path, requestType }]) =>
      requestType === undefined ? [] : [[path, requestType as AnyDefinition] as const],
    );
  new ReflectionService(Object.fromEntries(types)).addToServer(server);
}
