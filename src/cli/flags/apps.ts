import { AppInput, apps } from '../../contract/apps.ts'
import { filtersOf, flagsOf } from './derive-flags.ts'

/** The flags of an application's fields. */
export const fields = flagsOf(AppInput, {
  redirectUris: { name: 'redirect-uri', placeholder: 'uri', required: true, unless: 'machineScopes' },
  machineScopes: { kind: 'words', unlisted: ['--machine'] },
})

/** The filters of lists of applications. */
export const filters = filtersOf(apps.list)
