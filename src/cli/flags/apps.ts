import { AppInput, apps } from '../../contract/apps.ts'
import { filtersOf, flagsOf } from './derive-flags.ts'

export const fields = flagsOf(AppInput, {
  redirectUris: { name: 'redirect-uri', placeholder: 'uri', required: true, unless: 'machineScopes' },
  machineScopes: { kind: 'words', unlisted: ['--machine'] },
})

export const filters = filtersOf(apps.list)
