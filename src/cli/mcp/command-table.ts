import type { Argument, Command, Host, Invocation } from '../command/command.ts'
import type { Flag } from '../command/flag.ts'
import { type Offer, offeredCommands } from './offered-commands.ts'

export interface OfferedCommand {
  readonly path: string
  readonly command: Command
  readonly offer: Offer
}

/** In the order of help. */
export async function loadOffered({ commandsAt }: Host): Promise<readonly OfferedCommand[]> {
  const all = (await commandsAt([])) ?? []
  return all.flatMap(({ path: short, command }) => {
    const path = command.isDefault ? `${short} ${command.name}` : short
    const offer = offeredCommands.get(path)
    return offer ? [{ path, command, offer }] : []
  })
}

export function offeredFlagsOf({
  command: { calls, flags = [] },
  offer,
}: OfferedCommand): ReadonlySet<string> {
  const bound = [...(calls?.fields ?? []), ...(calls?.query ?? [])].map(({ flag }) => flag.name)
  const listed = flags.filter(({ name, writes, file }) => {
    return offer.flags.includes(name) && writes === undefined && file !== 'write' && file !== 'both'
  })
  return new Set([...bound, ...listed.map(({ name }) => name)])
}

/** A value of a command line, with the name of its argument or flag. */
export interface NamedValue {
  readonly name: string
  readonly text: string
  readonly place: Argument | Flag | undefined
}

/** Returns the values of a command line; those that are no texts as JSON. */
export function namedValues(
  { arguments: given, flags }: Pick<Invocation, 'arguments' | 'flags'>,
  { command }: Pick<OfferedCommand, 'command'>,
): NamedValue[] {
  const positions = command.arguments ?? []
  const rest = positions.findIndex((position) => position.rest)
  const inArguments = given.map((text, index) => {
    const place = positions[rest >= 0 && index > rest ? rest : index]
    return { name: place?.name ?? '', text, place }
  })
  const inFlags = Object.entries(flags).flatMap(([name, value]) => {
    const place = command.flags?.find((flag) => flag.name === name)
    const values = value === undefined ? [] : [value].flat()
    return values.map((each) => ({
      name,
      text: typeof each === 'string' ? each : JSON.stringify(each),
      place,
    }))
  })
  return [...inArguments, ...inFlags]
}
