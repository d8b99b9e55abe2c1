import type { Server, ServiceDefinition } from '@grpc/grpc-js';
import type { AnyDefinition } from '@grpc/proto-loader';
import { ReflectionService } from '@grpc/reflection';
import { methodsOf } from '../wire/methods.ts';

/** Lets tools such as grpcurl list the services and their messages: the standard service, v1 and v1alpha. */
export function addReflection(server: Server, services: readonly ServiceDefinition[]): void {
  // Each type carries the descriptors of its .proto file, and each of our services has a .proto file of its own.
  const types = services
    .flatMap((service) => methodsOf(service))
    .flatMap(([, { path, requestType }]) =>
      requestType === undefined ? [] : [[path, requestType as AnyDefinition] as const],
    );
  new ReflectionService(Object.fromEntries(types)).addToServer(server);
}
