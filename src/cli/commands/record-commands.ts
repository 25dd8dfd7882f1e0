import type { Call } from '../../contract/calls.ts'
import type { Argument, Command, Given } from '../command/command.ts'
import type { FieldFlags } from '../command/flag.ts'
import type { Lookup } from '../command/lookup.ts'
import type { DatasetName } from '../dataset/dataset.ts'
import type { Named } from '../operation/find-named.ts'
import { call } from '../operation/operation-command.ts'
import type { Finding, OperationSpec } from '../operation/operation-spec.ts'
import { thingName, updatedLine } from '../operation/thing-name.ts'

type Verb = 'list' | 'get' | 'create' | 'update' | 'delete' | 'revoke'

interface Records {
  readonly operations: () => Promise<Readonly<Partial<Record<Verb, Call>>>>
  readonly argument: Argument
  /** Path parameter of the argument (default `<argument>Id`). */
  readonly parameter?: string
  /** Default the name of the argument. */
  readonly noun?: string
  readonly columns: readonly string[]
  readonly filters: FieldFlags
  readonly fields?: FieldFlags
  /** `term Spring 2027 (2027S)`. The record is undefined if it was not read. */
  readonly nameOf?: (record: unknown, given: Given) => string
  /** Set if removed records may be given by name, which the list shows. */
  readonly byName?: Pick<Named, 'id' | 'counts' | 'apart'>
}

type Own = Partial<OperationSpec<Call>>

type Titled = Own & Pick<OperationSpec<Call>, 'name' | 'summary'>

type Removal = Omit<Own, 'destroys'> & {
  readonly destroys?: Partial<Own['destroys']>
  /** Sentence after the question (default `This cannot be undone.`). */
  readonly consequence?: string
  /** Sentence after a question about several records. */
  readonly consequences?: string
}

/** `own` has the parts that a command has besides or instead of the usual ones, such as examples. */
export function recordCommands({
  operations,
  argument,
  parameter = `${argument.name}Id`,
  noun = argument.name,
  columns,
  filters,
  fields = {},
  nameOf = (record, given) => `${noun} ${thingName(record, given.arguments[argument.name])}`,
  byName,
}: Records) {
  // The cast is safe: files create only the commands whose operations exist.
  const operation = (verb: Verb) => async () => (await operations())[verb] as Call
  const one = { arguments: { [parameter]: argument } }
  const several = { ...one, several: `${noun}s` }
  const finds = byName && {
    finds: async (finding: Finding) => {
      const { findNamed } = await import('../operation/find-named.ts')
      const named = { list: operation('list'), argument: argument.name, several: `${noun}s`, ...byName }
      return findNamed(named)(finding)
    },
  }

  async function read(look: Lookup, given: Given): Promise<unknown> {
    const { get, list } = await operations()
    const reference = given.arguments[argument.name] ?? ''
    if (get) return look.one(get, { [parameter]: reference })
    return list && look.find(list, reference)
  }

  function removal(
    verb: 'delete' | 'revoke',
    { consequence = 'This cannot be undone.', consequences = consequence, destroys, ...own }: Removal,
  ): Command {
    const title = verb === 'delete' ? 'Delete' : 'Revoke'
    return call({
      name: verb,
      summary: `${title} ${noun}s`,
      operation: operation(verb),
      ...several,
      ...finds,
      destroys: {
        action: (given) => `${verb} ${nameOf(undefined, given)}`,
        read,
        question: async (_, given, found) => ({ text: `${title} ${nameOf(found, given)}`, consequence }),
        several: async () => ({ consequence: consequences }),
        ...destroys,
      },
      done: (found, given) => `${title}d ${nameOf(found, given)}`,
      ...own,
    })
  }

  return {
    list: (own: Own): Command =>
      call({
        name: 'list',
        summary: `List ${noun}s`,
        operation: operation('list'),
        query: filters,
        columns,
        ...own,
      }),
    get: (own: Own): Command =>
      call({ name: 'get', summary: `Show a ${noun}`, operation: operation('get'), ...one, columns, ...own }),
    create: ({ dataset, ...own }: Own & { readonly dataset: DatasetName }): Command =>
      call({
        name: 'create',
        summary: `Create a ${noun}`,
        operation: operation('create'),
        fields,
        exists: { dataset, name: nameOf },
        columns,
        done: (answer, given) => `Created ${nameOf(answer, given)}`,
        ...own,
      }),
    update: (own: Own): Command =>
      call({
        name: 'update',
        summary: `Update ${noun}s`,
        operation: operation('update'),
        ...several,
        fields,
        merge: true,
        versioned: true,
        columns,
        done: (answer, given, unchanged) => updatedLine('Updated', nameOf(answer, given), answer, unchanged),
        ...own,
      }),
    /** A command that sets the status. `verb` begins its success line: `Suspended`. */
    status: (verb: string, status: string, own: Titled): Command =>
      call({
        operation: operation('update'),
        ...several,
        fixed: { status },
        columns,
        done: (answer, given, unchanged) => {
          const name = nameOf(answer, given)
          return unchanged ? updatedLine(verb, name, answer, unchanged, status) : `${verb} ${name}`
        },
        ...own,
      }),
    delete: (own: Removal): Command => removal('delete', own),
    revoke: (own: Removal): Command => removal('revoke', own),
  }
}
