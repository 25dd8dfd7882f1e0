import type { Call as Declared } from '../../contract/calls.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Handler, Route } from './handler.ts'

/** What answers some of the operations of a resource. */
export type Reads<Group extends Readonly<Record<string, Operation>>> = {
  readonly [Verb in keyof Group]?: Handler<Group[Verb]>
}

/**
 * The routes that answer a request without parameters, which is judged by nothing: its query is the defaults. Whoever
 * asks for no more than that needs none of the schemas, which take longer to load than all of the rest.
 */
export function plainRoutesOf<Group extends Readonly<Record<string, Operation>>>(
  calls: { readonly [Verb in keyof Group]: Declared<Group[Verb]> },
  reads: Reads<Group>,
): Route[] {
  return Object.entries<Declared>(calls).flatMap(([verb, { defaults, ...operation }]) => {
    const handle: unknown = reads[verb]
    // Each handler takes the call of its own operation, with which alone the app calls it.
    return handle && defaults
      ? [{ operation, handle: handle as Route['handle'], queryOf: () => ({ ...defaults }) }]
      : []
  })
}
