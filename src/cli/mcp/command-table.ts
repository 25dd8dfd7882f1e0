import type { Command, Host } from '../command/command.ts'
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
