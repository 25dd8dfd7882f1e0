import { expect } from 'vitest'
import { test } from '../../helpers/cli.ts'
import { resultOf } from '../../helpers/result.ts'

test('settings are shown and updated, and reset to their defaults', async ({ local }) => {
  expect(await resultOf(local, 'settings get')).toEqual({
    ...{ instructorAccess: 'taught', instructorEnrollment: 'known', version: 1, updatedAt: null },
  })
  expect(await local.run('settings update --instructor-access all')).toMatchObject({
    code: 0,
    stderr: 'Updated the settings of the academy\n',
  })
  expect(await local.run('settings update --instructor-access all')).toMatchObject({
    code: 0,
    stderr: 'No changes to the settings of the academy\n',
  })
  expect(await resultOf(local, 'settings get')).toMatchObject({ instructorAccess: 'all', version: 2 })
  expect((await local.run('settings update --instructor-access taught --if-version 1')).code).toBe(6)
  expect((await local.run('settings update --unset instructor-access')).code).toBe(0)
  expect(await resultOf(local, 'settings get')).toMatchObject({ instructorAccess: 'taught', version: 3 })
})
