import { erased, erasedForGood, type Lasting, passwords } from './net-change.ts'

/** Returns the sentences about what a change did that cannot be taken back. */
export function lastingTexts(lasting: Lasting): string[] {
  return [...lasting].map(([what, count]) => {
    switch (what) {
      case erased:
        return `${counted(count, 'action')} whose values were erased with a user or are not visible to you`
      case erasedForGood:
        return counted(count, 'permanent deletion')
      case passwords:
        return `${counted(count, 'new password')}: the former ones are not known`
      case 'progress.updated':
        return `${counted(count, 'progress record')}: older progress never replaces newer`
      default: {
        const [noun = '', verb = ''] = what.split('.')
        return `${counted(count, noun.replaceAll('_', ' '))} ${verb.replaceAll('_', ' ')}`
      }
    }
  })
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
