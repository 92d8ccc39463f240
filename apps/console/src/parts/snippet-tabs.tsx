import { Tab, TabList, TabPanel, Tabs } from 'react-aria-components';
import { Code, type SnippetsProps } from './code.tsx';

/** The tabs of `Snippets`. */
export default function SnippetTabs({ label, snippets }: SnippetsProps) {
  const names = Object.keys(snippets);
  return (
    <Tabs className="snippets">
      <TabList aria-label={label}>
        {names.map((name) => (
          <Tab key={name} id={name}>
            {name}
          </Tab>
        ))}
      </TabList>
      {names.map((name) => (
        <TabPanel key={name} id={name}>
          <Code text={snippets[name] ?? ''} label={`${label}, ${name}`} />
        </TabPanel>
      ))}
    </Tabs>
  );
}
