from collections import deque
from typing import Any, Dict, List, Optional

from ovos_plugin_manager.templates.agent_tools import AgentTool, ToolArguments, ToolBox, ToolOutput
from pydantic import Field


class LastLinesArguments(ToolArguments):
    file: str = Field(description="The file.")
    count: int = Field(default=10, description="How many lines.")


class LastLinesOutput(ToolOutput):
    lines: List[str]


class LastLinesToolBox(ToolBox):
    def __init__(self, config: Optional[Dict[str, Any]] = None, bus=None):
        super().__init__(toolbox_id="last-lines-tools", config=config, bus=bus)

    def discover_tools(self) -> List[AgentTool]:
        return [AgentTool(
            name="last_lines",
            description="The last lines of a text file.",
            argument_schema=LastLinesArguments,
            output_schema=LastLinesOutput,
            tool_call=self.last_lines,
        )]

    def last_lines(self, arguments: LastLinesArguments) -> LastLinesOutput:
        with open(arguments.file) as text:
            return LastLinesOutput(lines=[line.rstrip("\n") for line in deque(text, arguments.count)])
