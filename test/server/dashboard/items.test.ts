import { expect } from 'vitest'
import { test as base } from './signed-in.ts'

const path = '/dashboard/integrations/moodle'

/** Connects a Moodle with two graded items. */
const test = base.extend('items', async ({ admin }) => {
  const gradeItems = { '12': { name: 'Quiz', maximum: 20, weight: 30 }, 'a/b~c': { maximum: 10 } }
  await admin.put('/v1/integrations/moodle', { webhookSecrets: ['a secret of the school'], gradeItems })
  return async () => (await admin.get('/v1/integrations/moodle')).body.gradeItems
})

test('a graded item is added, changed and deleted, and the rest stays', async ({ admin, browser, items }) => {
  await items()
  const added = await browser.submit(
    await browser.open(path),
    { itemId: ' 99 ', name: 'Essay', maximum: '25,5' },
    'Save item',
  )
  expect(added.text).toContain('Graded item saved.')
  const link = /<a href="([^"]+)">12<\/a>/.exec(added.html)?.[1] ?? ''
  const changed = await browser.submit(await browser.open(link), { weight: '' }, 'Save item')
  expect(await items()).toEqual({
    '12': { name: 'Quiz', maximum: 20, weight: null },
    '99': { name: 'Essay', maximum: 25.5, weight: null },
    'a/b~c': { name: '', maximum: 10, weight: null },
  })
  const deleted = await browser.submit(changed, { itemId: 'a/b~c' }, 'Delete a/b~c')
  expect(deleted.text).toContain('Graded item deleted.')
  expect(Object.keys(await items())).toEqual(['12', '99'])
  expect((await admin.get('/v1/integrations/moodle')).body.secrets.webhook).toHaveLength(1)
})

test('a problem of an item is shown at its field, and nothing is saved', async ({ browser, items }) => {
  const before = await items()
  const faulty = await browser.submit(
    await browser.open(path),
    { itemId: '12', maximum: 'ten', weight: '101' },
    'Save item',
  )
  expect(faulty.status).toBe(422)
  expect(faulty.html).toMatch(/<a href="#maximum">Maximum score<\/a> must be/)
  expect(faulty.html).toMatch(/<a href="#weight">Weight<\/a> must be/)
  expect(faulty.html).toMatch(/id="maximum"[^>]* value="ten"[^>]* aria-invalid="true"/)
  const nameless = await browser.submit(await browser.open(path), { itemId: '', maximum: '5' }, 'Save item')
  expect(nameless.text).toContain('Item ID is required')
  expect(await items()).toEqual(before)
})

test('many items come some at a time', async ({ admin, browser, items }) => {
  await items()
  const many = Object.fromEntries(Array.from({ length: 58 }, (_, index) => [`n${index + 1}`, { maximum: 5 }]))
  await admin.put('/v1/integrations/moodle', { gradeItems: many })
  const first = await browser.open(path)
  expect(first.text).toContain('Items 1–25 of 60 Next items')
  expect(first.html).toContain(`<a href="${path}?items=2#gradeItems">`)
  expect((await browser.open(`${path}?items=99`)).text).toContain('Items 51–60 of 60')
})
