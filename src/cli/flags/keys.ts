import { KeyInput, keys } from '../../contract/keys.ts'
import { filtersOf, flagsOf } from './derive-flags.ts'

export const fields = flagsOf(KeyInput, {
  userId: { default: 'you' },
  scopes: { kind: 'words', unlisted: ['--scope'] },
  expiresAt: { time: 'future', unlisted: ['--expires'], never: true, default: 'one year' },
})

export const filters = filtersOf(keys.list, {
  user_id: { summary: 'Filter by owner: id, external id or e-mail address' },
})
