import { ApiError } from '../../client/errors.ts'
import { memberOf } from '../../client/foreign/record.ts'
import type { Context } from '../command/context.ts'
import { UsageError } from '../terminal/errors.ts'

/**
 * The Canvas account of the integration that events are sent to. Throws a UsageError that names `--account` where that is not
 * known: at an address that is no profile's, and where the integration cannot be read or has none.
 */
export async function canvasAccount({ session, io }: Context, to: string | undefined): Promise<string> {
  if (to !== undefined) throw required('The integration at --to cannot be asked for it')
  const { calls } = await import('../../contract/calls.ts')
  const caller = await session.caller()
  try {
    const { data } = await caller.call(calls.integrations.get, {
      params: { lmsKind: 'canvas' },
      signal: io.signal,
    })
    const account = memberOf(data, 'rootAccountUuid')
    if (typeof account === 'string') return account
  } catch (error) {
    if (error instanceof ApiError) throw required(error.message.replace(/\.$/, ''))
    throw error
  }
  throw new UsageError('The canvas integration has no root account UUID', {
    why: ['A signed event is accepted only from the Canvas account of the integration'],
    hint: 'Set one: learnctl integrations set canvas --root-account-uuid <uuid>',
  })
}

function required(why: string): UsageError {
  return new UsageError('--account is required with --signing-key', {
    why: ['A signed event is accepted only from the Canvas account of the integration', why],
  })
}
