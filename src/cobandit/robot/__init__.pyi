from cobandit.robot.burger import CONFIGURATIONS as CONFIGURATIONS
from cobandit.robot.burger import Layer as Layer
from cobandit.robot.burger import burger_layers as burger_layers
from cobandit.robot.driver import Arm as Arm
from cobandit.robot.driver import JointTrajectory as JointTrajectory
from cobandit.robot.driver import Observation as Observation
from cobandit.robot.driver import Outcome as Outcome
from cobandit.robot.driver import make_arm as make_arm
from cobandit.robot.layout import Layout as Layout
from cobandit.robot.manual import AsksPeople as AsksPeople
from cobandit.robot.manual import NullArm as NullArm
from cobandit.robot.manual import Request as Request
from cobandit.robot.model import ArmModel as ArmModel
from cobandit.robot.names import known_arms as known_arms
from cobandit.robot.names import require_arm as require_arm
from cobandit.robot.recording import Event as Event
from cobandit.robot.recording import Recording as Recording
from cobandit.robot.rosbridge import RosbridgeArm as RosbridgeArm
from cobandit.robot.scene import scene_description as scene_description
from cobandit.robot.simulated import SimulatedArm as SimulatedArm
from cobandit.robot.simulated import simulate_burger as simulate_burger
from cobandit.robot.stacking import Stacking as Stacking
from cobandit.robot.stacking import StackingStep as StackingStep
from cobandit.robot.stacking import stack_burger as stack_burger

__all__: list[str]
