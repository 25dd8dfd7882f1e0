import { KeyInput, keys } from '../../contract/keys.ts'
import { filtersOf, flagsOf, userFlag } from './derive-flags.ts'

/** The flags of an API key's fields. */
export const fields = flagsOf(KeyInput, {
  userId: { ...userFlag, default: 'you' },
  scopes: { kind: 'words', unlisted: ['--scope'] },
  expiresAt: { time: 'future', unlisted: ['--expires'], never: true, default: 'one year' },
})

/** The filters of lists of API keys. */
export const filters = filtersOf(keys.list, {
  user_id: {
    ...userFlag,
    summary: 'Filter by owner: id, external id or e-mail address',
  },
})
