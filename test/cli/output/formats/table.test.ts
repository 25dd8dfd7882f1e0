import { Chalk } from 'chalk'
import { describe, expect, it } from 'vitest'
import { loadTable } from '../../../../src/cli/output/formats/table.ts'
import { displayWidth } from '../../../../src/cli/terminal/width.ts'

const chalk = new Chalk({ level: 0 })
const columns = ['id', 'title', 'status', 'updatedAt']
const rows = [
  {
    id: 'crs_0123456789',
    title: 'Marine biology for absolute beginners',
    status: 'draft',
    updatedAt: '2026-03-01',
  },
  { id: 'crs_9876543210', title: '日本語のコース', status: 'published', updatedAt: '2026-03-02' },
]

async function draw(width: number, chosen = false, shown = columns): Promise<string[]> {
  const list = (await loadTable({ columns: shown, chosen, width, chalk })).list()
  return (list.rows(rows) + list.end()).split('\n').slice(0, -1)
}

describe('a table', () => {
  it('is aligned under its head', async () => {
    const [head = '', first = '', second = ''] = await draw(120)
    expect(head).toMatch(/^id +title +status +updatedAt$/)
    expect(first.indexOf('draft')).toBe(head.indexOf('status'))
    expect(displayWidth(second.slice(0, second.indexOf('published')))).toBe(head.indexOf('status'))
  })

  it.each([[40], [60], [80]])('fits into %d columns', async (width) => {
    for (const line of await draw(width)) expect(displayWidth(line)).toBeLessThanOrEqual(width)
  })

  it('shortens long texts before ids, and shows that it did', async () => {
    const [, first] = await draw(60)
    expect(first).toContain('crs_0123456789')
    expect(first).toMatch(/Marine biolog.*…/)
  })

  it('leaves the last columns out where there is no room', async () => {
    const [head] = await draw(40)
    expect(head).toMatch(/^id +title$/)
  })

  it('leaves out no column that was chosen', async () => {
    const [head] = await draw(60, true, ['updatedAt', 'status', 'title', 'id'])
    expect(head).toMatch(/^updatedAt +status +title +id$/)
  })

  it('keeps the widths of its first page, without another head', async () => {
    const list = (await loadTable({ columns: ['id'], chosen: false, width: 80, chalk })).list()
    expect(list.rows([{ id: 'a' }])).toBe('id\na\n')
    expect(list.rows([{ id: 'b' }])).toBe('b\n')
  })

  it('of one thing has a line for each of its fields, objects leaf by leaf', async () => {
    const format = await loadTable({ columns, chosen: false, width: 80, chalk })
    expect(format.one({ id: 'x', criteria: { score: 70 }, tags: ['a'] })).toBe(
      'id              x\ncriteria.score  70\ntags            a\n',
    )
  })

  it('of one thing cuts nothing off: a long name has a line of its own, long texts are wrapped', async () => {
    const format = await loadTable({ columns, chosen: false, width: 60, chalk })
    const id = 'usr_0123456789abcdef0123456789abcdef'
    const bio = 'Wrote the first program, before there was a machine for it.'
    expect(format.one({ id, bio, settings: { notifications: { onEveryDevice: true, none: null } } })).toBe(
      `id                        ${id}
bio                       Wrote the first program, before
                          there was a machine for it.
settings.notifications.onEveryDevice
                          true
settings.notifications.none
`,
    )
  })

  it('shows control characters instead of obeying them', async () => {
    const list = (await loadTable({ columns: ['title'], chosen: false, width: 80, chalk })).list()
    expect(list.rows([{ title: '\u001b[2Jgone' }])).toBe('title\n\\x1b[2Jgone\n')
  })
})

describe('the width of text', () => {
  it.each([
    ['abc', 3],
    ['日本', 4],
    ['é', 1],
    ['e\u0301', 1],
    ['🎉', 2],
    ['👨‍👩‍👧', 2],
    ['', 0],
  ])('%s is %d', (text, width) => {
    expect(displayWidth(text)).toBe(width)
  })
})
