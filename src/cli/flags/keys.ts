import { KeyInput } from '../../contract/keys.ts'
import { flagsOf } from './flags-of.ts'

/** The flags of an API key's fields. */
export const fields = flagsOf(KeyInput, {
  userId: { name: 'user', unlisted: ['--learner'], default: 'you' },
  scopes: { kind: 'words', unlisted: ['--scope'] },
  expiresAt: { time: 'future', unlisted: ['--expires'], never: true, default: 'one year' },
})
