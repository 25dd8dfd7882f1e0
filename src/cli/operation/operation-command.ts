import type { Call } from '../../contract/calls.ts'
import type { Argument, Command } from '../command/command.ts'
import { type BoundFlag, bindFieldFlags, bindQueryFlags, withTimeZone } from '../command/flag.ts'
import { passwordFlag, secretFlag } from '../command/secret-input.ts'
import { sheetFlag } from '../targets/sheet-flag.ts'
import {
  bodyFlag,
  delimiterFlag,
  idsFlag,
  ifNotExistsFlag,
  ifVersionFlag,
  ignoreFiltersFlag,
  unsetFlag,
  upsertFlag,
} from './operation-flags.ts'
import type { OperationSpec } from './operation-spec.ts'

export function call<const O extends Call>(spec: OperationSpec<O>): Command {
  const query = bindQueryFlags(spec.query)
  const fields = spec.merge ? bindFieldFlags(spec.fields).map(optional) : bindFieldFlags(spec.fields)
  const { subject } = spec
  const inPath = Object.entries<Argument>(spec.arguments ?? {})
  const named = subject ? [...inPath, [subject.field, withBody(subject.argument)] as const] : inPath
  const positions = named.map(([parameter, argument], index) => {
    const isLast = index === named.length - 1
    return [parameter, spec.several && isLast ? many(argument) : argument] as const
  })
  const flags = withTimeZone([
    ...[...fields, ...query].map(({ flag }) => flag),
    ...(spec.fields ? [bodyFlag] : []),
    ...(spec.password === 'on request' ? [passwordFlag] : []),
    ...(spec.secretField ? [secretFlag(spec.secretField.input)] : []),
    ...(spec.merge && spec.fields ? [unsetFlag] : []),
    ...(spec.versioned ? [ifVersionFlag] : []),
    ...(spec.exists ? [ifNotExistsFlag] : []),
    ...(spec.exists?.dataset ? [upsertFlag] : []),
    ...(spec.flags ?? []),
    ...(spec.several ? [idsFlag] : []),
    ...(isFilteredList(spec) ? [delimiterFlag, ignoreFiltersFlag, sheetFlag] : []),
  ])
  const exits = [...(spec.several ? ['partial' as const] : []), ...(spec.exitNames ?? [])]

  return {
    name: spec.name,
    summary: spec.summary,
    arguments: positions.map(([, argument]) => argument),
    flags,
    ...(spec.description !== undefined && { description: spec.description }),
    ...(spec.examples && { examples: spec.examples }),
    ...(spec.writes && { writes: spec.writes }),
    ...(spec.prints && { prints: spec.prints }),
    ...(exits.length > 0 && { exits }),
    ...(spec.destroys && { destructive: true }),
    ...((spec.destroys || spec.confirms) && { confirms: true }),
    calls: { operation: spec.operation, columns: spec.columns ?? [], fields, query },
    run: async (context, given) => {
      const { runOperation } = await import('./run-operation.ts')
      // `spec` was checked against the operation's own type; the code below handles any operation.
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

/** The rows of a remote platform are checked. */
function isFilteredList({ query = {}, fields, destroys, several }: OperationSpec<Call>): boolean {
  if (fields || destroys || several !== undefined) return false
  return Object.keys(query).some((parameter) => !unfiltered.has(parameter))
}

/** Parameters of lists and reads that filter no rows. */
const unfiltered: ReadonlySet<string> = new Set(['sort', 'to'])

function withBody(argument: Argument): Argument {
  return { ...argument, instead: [...(argument.instead ?? []), bodyFlag.name] }
}

function many(argument: Argument): Argument {
  return { ...argument, rest: true, instead: [...(argument.instead ?? []), idsFlag.name] }
}

function optional({ place, flag }: BoundFlag): BoundFlag {
  const { required: _required, default: _default, ...rest } = flag
  return { place, flag: rest }
}
