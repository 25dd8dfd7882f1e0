import type { Call as Declared } from '../../contract/calls.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Handler, Route } from './handler.ts'

/** Handlers of some operations of a resource. */
export type Reads<Group extends Readonly<Record<string, Operation>>> = {
  readonly [Verb in keyof Group]?: Handler<Group[Verb]>
}

/**
 * Returns routes for requests without parameters, whose query is the defaults. They need no schemas, which
 * take longer to load than everything else.
 */
export function plainRoutesOf<Group extends Readonly<Record<string, Operation>>>(
  calls: { readonly [Verb in keyof Group]: Declared<Group[Verb]> },
  reads: Reads<Group>,
): Route[] {
  return Object.entries<Declared>(calls).flatMap(([verb, { defaults, ...operation }]) => {
    const handle: unknown = reads[verb]
    // The app calls each handler only with its own operation.
    return handle && defaults
      ? [{ operation, handle: handle as Route['handle'], queryOf: () => ({ ...defaults }) }]
      : []
  })
}
