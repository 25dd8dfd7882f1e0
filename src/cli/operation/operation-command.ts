import type { Call } from '../../contract/calls.ts'
import type { Argument, Command } from '../command/command.ts'
import { type BoundFlag, bound, fieldFlags } from '../command/flag.ts'
import { passwordFlag } from '../command/password.ts'
import { withTimeZone } from '../command/time-flag.ts'
import {
  bodyFlag,
  idsFlag,
  ifNotExistsFlag,
  ifVersionFlag,
  ignoreFiltersFlag,
  unsetFlag,
  upsertFlag,
} from './operation-flags.ts'
import type { OperationSpec } from './operation-spec.ts'

/** The command that makes a call: flags become query and body, the answer goes to the output. */
export function call<const O extends Call>(spec: OperationSpec<O>): Command {
  const query = bound(spec.query)
  const fields = spec.merge ? fieldFlags(spec.fields).map(optional) : fieldFlags(spec.fields)
  const { subject } = spec
  const inPath = Object.entries<Argument>(spec.arguments ?? {})
  const named = subject ? [...inPath, [subject.field, withBody(subject.argument)] as const] : inPath
  const positions = named.map(
    ([parameter, argument]) => [parameter, spec.several ? many(argument) : argument] as const,
  )
  const flags = withTimeZone([
    ...[...fields, ...query].map(({ flag }) => flag),
    ...(spec.fields ? [bodyFlag] : []),
    ...(spec.password === 'on request' ? [passwordFlag] : []),
    ...(spec.merge && spec.fields ? [unsetFlag] : []),
    ...(spec.versioned ? [ifVersionFlag] : []),
    ...(spec.exists ? [ifNotExistsFlag] : []),
    ...(spec.exists?.dataset ? [upsertFlag] : []),
    ...(spec.flags ?? []),
    ...(spec.several ? [idsFlag] : []),
    ...(isFilteredList(spec) ? [ignoreFiltersFlag] : []),
  ])

  return {
    name: spec.name,
    summary: spec.summary,
    arguments: positions.map(([, argument]) => argument),
    flags,
    ...(spec.description !== undefined && { description: spec.description }),
    ...(spec.examples && { examples: spec.examples }),
    calls: { operation: spec.operation, columns: spec.columns ?? [], fields, query },
    run: async (context, given) => {
      const { runOperation } = await import('./run-operation.ts')
      // The operation's own type is what `spec` was checked against; from here on any operation is treated alike.
      await runOperation(context, given, {
        spec,
        operation: await spec.operation(),
        query,
        fields,
        positions,
      })
    },
  }
}

/** True for a list with filters: its rows are checked where another platform sends them. */
function isFilteredList({ query = {}, fields, destroys, several }: OperationSpec<Call>): boolean {
  if (fields || destroys || several !== undefined) return false
  return Object.keys(query).some((parameter) => !unfiltered.has(parameter))
}

/** Parameters of lists and reads that leave no row out. */
const unfiltered: ReadonlySet<string> = new Set(['sort', 'to'])

/** The argument of a field of the body, which may be in the document of `--body`. */
function withBody(argument: Argument): Argument {
  return { ...argument, instead: [...(argument.instead ?? []), bodyFlag.name] }
}

/** An argument that may be many, or come by `--ids`. */
function many(argument: Argument): Argument {
  return { ...argument, rest: true, instead: [...(argument.instead ?? []), idsFlag.name] }
}

/** The flag of a field that stays as it is where it is not given. */
function optional({ place, flag }: BoundFlag): BoundFlag {
  const { required: _required, default: _default, ...rest } = flag
  return { place, flag: rest }
}
