import type { Context } from '../command/context.ts'
import { UsageError } from '../terminal/errors.ts'
import { readInput } from '../terminal/text-input.ts'
import { accountNameOf, reportStored, signInPlace, storeCredential, useCredential } from './sign-in-place.ts'

/** Signs in with an API key from standard input or a hidden prompt. Checks the key before it stores it. */
export async function signInWithKey(context: Context): Promise<void> {
  const { io, settings, session } = context
  const place = await signInPlace(context)
  const value = await readKey(context)
  useCredential(context, place, { kind: 'api_key', value })
  const caller = await session.caller()
  const { profile } = (await import('../../contract/calls.ts')).calls.users
  if (settings.dryRun.value) {
    const { showRequest } = await import('../operation/dry-run.ts')
    return showRequest(context, caller.request(profile, { signal: io.signal }))
  }
  const { data: user } = await caller.call(profile, { signal: io.signal })
  const storedAt = new Date(io.now()).toISOString()
  const replaced = await storeCredential(context, place, {
    kind: 'api_key',
    value,
    origin: new URL(place.url).origin,
    storedAt,
  })
  await reportStored(context, place, accountNameOf(user))
  if (replaced?.kind === 'oauth')
    await (await import('./end-session.ts')).endPreviousSession(context, replaced)
}

async function readKey({ io, prompts }: Context): Promise<string> {
  const text = io.stdin.isTTY ? await prompts.secret('API key:') : await readInput(io)
  const key = text.trim()
  if (key === '')
    throw new UsageError('No API key on standard input', {
      hint: 'learnctl auth login --with-key < key.txt',
    })
  if (!/^[\x21-\x7e]{1,4096}$/.test(key))
    throw new UsageError('Invalid API key: it contains spaces or line breaks')
  const { isCredential, credentialPrefixes } = await import('../../codec/credential-text.ts')
  if (key.startsWith(credentialPrefixes.apiKey) && !isCredential('apiKey', key)) {
    throw new UsageError('Invalid API key: its checksum does not match', {
      code: 'damaged_key',
      hint: 'Copy the whole key again',
    })
  }
  return key
}
