import { expect } from 'vitest'
import { test as base } from './signed-in.ts'

const path = '/dashboard/integrations/moodle'

/** Connects a Moodle with two graded items. */
const test = base
  .extend('browser', async ({ admin, signIn }) => signIn(admin))
  .extend('items', async ({ admin }) => {
    const gradeItems = { '12': { name: 'Quiz', maximum: 20, weight: 30 }, 'a/b~c': { maximum: 10 } }
    await admin.put('/v1/integrations/moodle', { webhookSecrets: ['a secret of the school'], gradeItems })
    return async () => (await admin.get('/v1/integrations/moodle')).body.gradeItems
  })

const save = 'Save graded items'

test('graded items are changed, added, renamed and removed by their form, and the rest stays', async ({
  browser,
  items,
}) => {
  await items()
  const page = await browser.open(path)
  const saved = await browser.submit(
    page,
    { 'item-0-maximum': '25,5', 'item-0-weight': '', 'item-2-id': ' 99 ', 'item-2-name': 'Essay' },
    save,
  )
  expect(saved.text).toContain('Graded items saved.')
  expect(await items()).toEqual({
    '12': { name: 'Quiz', maximum: 25.5, weight: null },
    '99': { name: 'Essay', maximum: 100, weight: null },
    'a/b~c': { name: '', maximum: 10, weight: null },
  })
  await browser.submit(saved, { 'item-0-id': '13', 'item-1-id': '' }, save)
  expect(await items()).toEqual({
    '13': { name: 'Quiz', maximum: 25.5, weight: null },
    'a/b~c': { name: '', maximum: 10, weight: null },
  })
})

test('saving the items leaves the settings, and saving the settings the items', { tags: ['slow'] }, async ({
  admin,
  browser,
  items,
}) => {
  const before = await items()
  await browser.submit(await browser.open(path), { gradeToProgress: 'percent' }, 'Save changes')
  expect(await items()).toEqual(before)
  await browser.submit(await browser.open(path), { 'item-0-name': 'Test' }, save)
  expect((await admin.get('/v1/integrations/moodle')).body).toMatchObject({
    gradeToProgress: 'percent',
    secrets: { webhook: [{ endsAt: null }] },
    gradeItems: { '12': { name: 'Test', maximum: 20, weight: 30 } },
  })
})

test('a problem of an item is shown at its field, and nothing is saved', async ({ browser, items }) => {
  const before = await items()
  const faulty = await browser.submit(
    await browser.open(path),
    { 'item-0-maximum': 'ten', 'item-1-weight': '101' },
    save,
  )
  expect(faulty.status).toBe(422)
  expect(faulty.html).toMatch(/<a href="#item-0-maximum">Maximum score of item 12<\/a> must be/)
  expect(faulty.html).toMatch(/<a href="#item-1-weight">Weight of item a\/b~c<\/a> must be/)
  expect(faulty.html).toMatch(/id="item-0-maximum"[^>]* value="ten"[^>]* aria-invalid="true"/)
  const nameless = await browser.submit(
    await browser.open(path),
    { 'item-1-id': '12', 'item-2-maximum': '5' },
    save,
  )
  expect(nameless.text).toMatch(/Item ID of item 12 is in the list already.* Item ID of row 3 is required/)
  expect(await items()).toEqual(before)
})

test('many items come some at a time, and one of another page is not overwritten', async ({
  admin,
  browser,
  items,
}) => {
  const many = Object.fromEntries(Array.from({ length: 58 }, (_, index) => [`n${index + 1}`, { maximum: 5 }]))
  await admin.put('/v1/integrations/moodle', { gradeItems: many })
  const first = await browser.open(path)
  expect(first.text).toContain('Items 1–25 of 60 Next items')
  expect(first.html).toContain(`<a href="${path}?items=2#gradeItems">`)
  const last = await browser.open(`${path}?items=99`)
  expect(last.text).toContain('Items 51–60 of 60')
  const taken = await browser.submit(last, { 'item-10-id': '12' }, save)
  expect(taken.text).toContain('Item ID of item 12 is in the list already')
  const added = await browser.submit(last, { 'item-10-id': 'n99', 'item-0-id': '' }, save)
  expect(added.text).toContain('Graded items saved.')
  const { n99, n49, ...rest } = await items()
  expect([n99, n49]).toEqual([{ name: '', maximum: 100, weight: null }, undefined])
  expect(Object.keys(rest)).toHaveLength(59)
})
