import type { Context } from '../command/context.ts'

/** Returns notes about the address for the other system's events and how to configure it there. */
export async function webhookNotes(context: Context, kind: string): Promise<readonly string[]> {
  const { setUpOf, webhookTarget } = await import('../../lms/set-up.ts')
  const base = await addressOf(context)
  const step = setUpOf(kind)
  const start = base === null ? ['Start the server with: learnctl server start'] : []
  return [
    `Webhook URL: ${base ?? '<URL of your server>'}${webhookTarget(kind)}`,
    ...(step === undefined ? [] : [step]),
    ...start,
  ]
}

/** Returns the base URL of the academy; null if no server runs. */
export async function addressOf({ session, directories }: Context): Promise<string | null> {
  const target = session.target()
  if (target.kind === 'remote') return target.url
  const { serverOf } = await import('../local-server/running-servers.ts')
  return (await serverOf(directories.state, target.database))?.url ?? null
}
