import type { Command } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { noColumns } from '../command/refusals.ts'

/** `learnctl auth token` */
export const token: Command = {
  name: 'token',
  summary: 'Print the access token or API key, for other programs',
  description:
    'Prints the bare value, regardless of --output. An access token that is about to expire is refreshed first.',
  refuses: noColumns,
  examples: ['auth token', 'auth token --profile work'],
  run,
}

async function run({ session, settings, output }: Context): Promise<void> {
  if (settings.dryRun.value) {
    const target = session.target()
    const credential = target.kind === 'remote' ? target.credential : null
    if (credential) return output.note(`Would print the credential from ${credential.origin.name}`)
  }
  await output.text(`${await session.bearer()}\n`)
}
